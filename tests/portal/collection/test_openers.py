"""Opening in children: the same answers, whatever becomes of them, and nothing left behind."""

import gc
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregation.protocol.ids import fresh_session_id
from aggregation.protocol.refusal import Reason
from aggregation.protocol.sealing import SealedUpdate, SessionKeys, seal
from aggregation.sessions.session import Session
from portal.collection import openers as module
from portal.collection.openers import Openers
from tests.aggregation.sessions.examples import WEEK, Room
from tests.parts import eventually

CLIENT_TASK, SESSION = "c1" * 32, fresh_session_id()


@pytest.fixture
def openers() -> Iterator[Openers]:
    made = Openers(2)
    yield made
    made.close()


@pytest.fixture
def keys() -> SessionKeys:
    return SessionKeys.fresh()


def sealed(keys: SessionKeys, count: int) -> list[SealedUpdate]:
    to = {"public": keys.public, "client_task": CLIENT_TASK, "session": SESSION}
    ids = [bytes([0, 0, 0, 0, 0, 0, *divmod(n, 256)]) for n in range(count)]
    return [(one, seal(b"plain %d" % n, update=one.hex(), **to)) for n, one in enumerate(ids)]


def opened(keys: SessionKeys, openers: Openers, batch: list[SealedUpdate]) -> list[bytes | None]:
    named = {"client_task": CLIENT_TASK, "session": SESSION}
    found = keys.opener(**named, helper=openers.open_all)(batch)
    assert found == keys.opener(**named)(batch)
    return found


@pytest.mark.parametrize("count", [0, 1, 15, 16, 33, 500])
def test_they_open_what_one_would_open_alone(openers, keys, count):
    batch = sealed(keys, count)
    assert opened(keys, openers, batch) == [b"plain %d" % n for n in range(count)]
    assert len(openers._idle) == min(2, count // module.LEAST_SHARE)


def test_what_does_not_open_is_none_of_theirs(openers, keys):
    batch = sealed(keys, 100)
    batch[7] = (batch[7][0], batch[8][1])
    batch[60] = (batch[60][0], b"")
    batch[61] = (b"", batch[61][1])
    found = opened(keys, openers, batch)
    assert [n for n, plain in enumerate(found) if plain is None] == [7, 60, 61]


def test_a_session_counts_the_same_with_them(openers):
    room = Room()
    batch = [room.update({WEEK: {1: [1, 1]}}) for _ in range(80)]
    bad = [(batch[3][0], b"no update"), (batch[4][0], batch[4][1])]
    helped = Session(
        id=room.id, config=room.config, keys=room.keys, windows=[WEEK], helper=openers.open_all
    )
    taken = helped.take([bad[0], *batch, bad[1]])
    assert taken.accepted == 80
    assert taken.counts == {Reason.CANNOT_OPEN: 1, Reason.DUPLICATE: 1}
    assert taken == room.session.take([bad[0], *batch, bad[1]])


def test_one_that_was_killed_is_replaced(openers, keys):
    batch = sealed(keys, 64)
    opened(keys, openers, batch)
    before = {child._process.pid for child in openers._idle}
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    opened(keys, openers, batch)
    opened(keys, openers, batch)
    assert len({child._process.pid for child in openers._idle} - before) == 2


def test_one_that_does_not_answer_is_given_up(openers, keys, monkeypatch):
    batch = sealed(keys, 64)
    opened(keys, openers, batch)
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 1)
    frozen = openers._idle[0]._process
    os.kill(frozen.pid, signal.SIGSTOP)
    opened(keys, openers, batch)
    assert frozen.returncode == -signal.SIGKILL


@pytest.mark.parametrize("size", [20_000, 20], ids=["too large for the line", "small"])
def test_all_that_do_not_answer_are_waited_for_together(openers, keys, monkeypatch, size):
    """Those of large shares when they are asked, those of small ones when they should answer."""
    opened(keys, openers, sealed(keys, 64))
    patience = []
    waiting = module._Child._wait

    def wait(child, which, until):
        patience.append(until)
        waiting(child, which, until)

    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(module._Child, "_wait", wait)
    for child in openers._idle:
        os.kill(child._process.pid, signal.SIGSTOP)
    batch = [(one, bytes(size)) for one, _ in sealed(keys, 64)]
    assert openers.open_all(b"0" * 32, b"", batch) == [None] * 64
    assert len(patience) >= 2
    assert len(set(patience)) == 1


def test_an_answer_that_nobody_took_is_none_to_the_next(openers, keys, monkeypatch):
    """A session that fails between question and answer leaves no child with its updates behind."""
    batch = sealed(keys, 64)
    opened(keys, openers, batch)
    asked = [child._process for child in openers._idle]

    def fails(_child: object, _until: float) -> None:
        raise MemoryError

    with monkeypatch.context() as failing:
        failing.setattr(module._Child, "answer", fails)
        with pytest.raises(MemoryError):
            opened(keys, openers, batch)
    assert [process.returncode for process in asked] == [-signal.SIGKILL] * 2
    other = SessionKeys.fresh()
    opened(other, openers, sealed(other, 64))


def test_one_that_cannot_be_started_closes_nothing_twice(
    openers, keys, settings, tmp_path, monkeypatch
):
    """By then the number may be that of a connection which another thread has just opened."""
    settings.BASE_DIR, met = tmp_path / "gone", []
    monkeypatch.setattr(sys, "unraisablehook", met.append)
    assert len(opened(keys, openers, sealed(keys, 40))) == 40
    gc.collect()
    assert [one.exc_value for one in met] == []


def test_nobody_else_is_told_the_key(openers, keys):
    opened(keys, openers, sealed(keys, 64))
    secret = keys._private.private_bytes_raw()
    for child in openers._idle:
        process = Path("/proc") / str(child._process.pid)
        for name in ("cmdline", "environ"):
            told = (process / name).read_bytes()
            assert secret not in told
            assert secret.hex().encode() not in told


def test_they_end_with_a_session_and_others_take_over(openers, keys):
    opened(keys, openers, sealed(keys, 64))
    told = [child._process for child in openers._idle]
    openers.close()
    assert [process.returncode for process in told] == [-signal.SIGKILL] * 2
    opened(keys, openers, sealed(keys, 64))
    assert len(openers._idle) == 2


def test_one_that_is_busy_when_a_session_ends_is_not_asked_again(openers, keys):
    opened(keys, openers, sealed(keys, 64))
    busy = openers._take(1)
    openers.close()
    assert busy[0]._process.poll() is None
    openers._give_back(busy)
    assert busy[0]._process.returncode == -signal.SIGKILL
    assert not openers._idle


def test_the_key_is_wiped_from_what_was_sent(openers, keys, monkeypatch):
    orders, private, ask = [], keys._private.private_bytes_raw(), module._Child.ask

    def noted(child, order, until):
        orders.append(order)
        assert private in order
        ask(child, order, until)

    monkeypatch.setattr(module._Child, "ask", noted)
    opened(keys, openers, sealed(keys, 64))
    assert len(orders) == 2
    assert not any(map(any, orders))


def test_no_crash_leaves_a_core_file(openers, keys):
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        opened(keys, openers, sealed(keys, 64))
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    for child in openers._idle:
        assert resource.prlimit(child._process.pid, resource.RLIMIT_CORE) == (0, 0)


def test_they_end_with_whoever_started_them(openers, keys):
    opened(keys, openers, sealed(keys, 64))
    processes = [child._process for child in openers._idle]
    for child in openers._idle:
        child._line.close()  # as the system does for a worker that is gone
    eventually(lambda: all(process.poll() == 0 for process in processes))


def test_without_the_setting_there_are_none(settings):
    settings.OPENERS = 0
    assert module.helper() is None
