"""A phone that loses power at every save and every request, and goes on from its storage."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations
from random import Random
from typing import Any

import pytest

from aggregation.clock import ManualClock
from aggregation.protocol.client_task import Schedule
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from devices_sim.device import runtime
from devices_sim.device.library import Library
from devices_sim.device.phone import Phone
from devices_sim.device.storage import FileStorage, MemoryStorage
from tests.aggregation.ondevice.examples import WEEK, client_task, trip
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi

LOOP = asyncio.Runner()


class PowerLoss(BaseException):
    """Ends the program at once: no handler of ours gets to see it as an error."""


class Power:
    """Counts every save and every request, and fails at the chosen ones."""

    def __init__(self, fails_at: tuple[tuple[int, str], ...] = ()) -> None:
        self.fails_at, self.moment = dict(fails_at), 0

    def next(self) -> str:
        self.moment += 1
        return self.fails_at.get(self.moment, "")


class Disk(MemoryStorage):
    def __init__(self, power: Power) -> None:
        super().__init__()
        self.power = power

    def save(self, blob: bytes) -> None:
        when = self.power.next()
        if when == "before":
            raise PowerLoss
        super().save(blob)
        if when == "after":
            raise PowerLoss


class Wire(DirectApi):
    def __init__(self, peer: Peer, power: Power) -> None:
        super().__init__(peer)
        self.power = power

    def _call(self, name: str, act: Any) -> Any:
        when = self.power.next()
        if when == "before":
            raise PowerLoss
        answer = super()._call(name, act)
        if when == "after":
            raise PowerLoss
        return answer


class World:
    """Two tasks over two weeks; sessions flush, count half, and die; the phone wakes up often."""

    def __init__(self, catalog: Catalog, library: Library, power: Power) -> None:
        self.catalog, self.library, self.power = catalog, library, power
        self.clock = ManualClock(WEEK.start)
        self.peer = Peer(self.clock)
        often = Schedule(max_runs_per_day=100, conditions=())
        approved = WEEK.start - timedelta(days=1)
        weekly = client_task(catalog, schedule=often, epsilon="1")
        daily = client_task(catalog, schedule=often, epsilon="0.1", window_unit=Unit.DAY)
        self.peer.add("weekly", weekly, approved_at=approved, grace_hours=14 * 24)
        self.peer.add("daily", daily, approved_at=approved, grace_hours=14 * 24)
        self.disk = Disk(power)

    def phone(self) -> Phone:
        wire = Wire(self.peer, self.power)
        parts = (self.disk, self.catalog, self.peer.pins, wire, self.clock, Random(1), "DE")
        return Phone(*parts, library=self.library)

    def surely(self, act: Any) -> None:
        """Do it, again after each power loss."""
        while True:
            try:
                act(self.phone())
            except PowerLoss:
                continue
            return

    def wake_up(self) -> None:
        self.surely(lambda phone: LOOP.run(phone.wake_up()))

    def run(self) -> None:
        self.surely(lambda phone: phone.set_consent("trips", True))
        for week in range(2):
            for day in (1, 3):
                moment = (WEEK.start + timedelta(days=7 * week + day)).timestamp()
                self.surely(lambda phone, m=moment: _record_once(phone, m))
                self.clock.set(WEEK.start + timedelta(days=7 * week + day + 1, hours=1))
                self.wake_up()
                self.sessions_end(day == 1)
                self.wake_up()
        for _ in range(4):
            self.clock.advance(timedelta(days=3))
            self.wake_up()
            self.peer.flush_all()
        self.wake_up()

    def sessions_end(self, well: bool) -> None:
        for session in list(self.peer.sessions.values()):
            if session.over:
                continue
            if session.revision.task == "daily" and not well:
                self.peer.kill(session)
            else:
                self.peer.flush(session, only=lambda window: well or window < "2026-11-16")


def _record_once(phone: Phone, moment: float) -> None:
    """An app that asks before it reports again."""
    if all(event.time != moment for event in phone.load().events.get("trips", ())):
        phone.record("trips", trip()._replace(time=moment))


@pytest.fixture(scope="module")
def library(catalog: Catalog) -> Library:
    return Library(catalog)


def check(world: World) -> None:
    """No window has two ids without an `over` between them; all that could count counted once."""
    ids: dict[tuple[str, str], list[str]] = defaultdict(list)
    for session_id, update, sealed in world.peer.arrived:
        task = world.peer.sessions[session_id].revision.task
        for window in world.peer.windows_of(session_id, update, sealed):
            if update not in ids[task, window]:
                assert set(ids[task, window]) <= world.peer.told_over, "not told_over"
                ids[task, window].append(update)
    assert all(len(parts) == 1 for parts in world.peer.counted.values())
    assert {window for task, window in world.peer.counted if task == "weekly"} == {
        WEEK.id,
        WEEK.next().id,
    }
    days = {Window.parse(w, Unit.DAY) for task, w in world.peer.counted if task == "daily"}
    assert {WEEK.start + timedelta(days=d) for d in (1, 3, 8, 10)} <= {day.start for day in days}


def moments(catalog: Catalog, library: Library) -> int:
    world = World(catalog, library, Power())
    world.run()
    check(world)
    return world.power.moment


def plans(count: int, size: str) -> Iterator[tuple[tuple[int, str], ...]]:
    for when in ("before", "after"):
        yield from (((moment, when),) for moment in range(1, count + 1))
    pairs = list(combinations(range(1, count + 1), 2))
    chosen = Random(7).sample(pairs, 1500 if size == "full" else 20)
    for first, second in chosen:
        yield ((first, "after"), (second, "before"))


def test_power_loss_at_every_moment_never_counts_twice(
    catalog: Catalog, library: Library, size: str
) -> None:
    count = moments(catalog, library)
    assert count > 60  # saves and requests of the whole story
    for plan in plans(count, size):
        world = World(catalog, library, Power(plan))
        world.run()
        try:
            check(world)
        except AssertionError as error:
            raise AssertionError(f"after power loss at {plan}") from error


def test_a_phone_that_sends_before_it_saves_is_noticed(
    catalog: Catalog, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = runtime.Call._send

    async def sends_first(call: Any, pending: Any) -> Any:
        call.save = lambda: None
        try:
            return await send(call, pending)
        finally:
            del call.save

    monkeypatch.setattr(runtime.Call, "_send", sends_first)

    def run(moment: int) -> None:
        world = World(catalog, library, Power(((moment, "after"),)))
        world.run()
        check(world)

    with pytest.raises(AssertionError, match="told_over"):
        list(map(run, range(1, 100)))


def test_a_file_is_replaced_as_a_whole(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = FileStorage(tmp_path / "phone")
    assert storage.load() is None
    storage.save(b"first")
    monkeypatch.setattr("devices_sim.device.storage.os.fsync", _fails)
    with pytest.raises(OSError, match="full"):
        storage.save(b"second, and longer")
    assert FileStorage(tmp_path / "phone").load() == b"first"
    assert (tmp_path / "phone").stat().st_mode & 0o777 == 0o600


def _fails(handle: int) -> None:
    raise OSError("The disk is full.")
