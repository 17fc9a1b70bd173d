"""The one flush: fenced, whole, and once, with real commits on both databases."""

import shutil
import threading
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from django.db import OperationalError, transaction

from aggregation.protocol.sealing import SessionKeys
from portal.audit.services import move
from portal.audit.verification import verify_log
from portal.collection import completing, gathering, live, placing
from portal.collection.flushing import SessionOver, TakerGone, flush
from portal.collection.leaving import make_ready
from portal.collection.models import HandOver, Partial, Receipts, Session
from portal.tasks.models import TaskWindow
from tests.parts import eventually
from tests.portal.collection.collecting import MIN

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"


def ready(collecting, count=MIN, *, windows=(FIRST,), handing_over=()):
    """A session that completes, and what it leaves."""
    run = collecting.by_hand(list(windows), count)
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    leaving = make_ready(
        session=run.row,
        summing=run.summing,
        open_windows=list(run.windows),
        handing_over=[w for w in run.windows if w.id in handing_over],
        clock=collecting.clock,
    )
    return run, leaving


def flushed(collecting, run, leaving, takers=None):
    flush(session=run.row, leaving=leaving, takers=takers or {}, clock=collecting.clock)


def nothing_is_stored():
    return not (Partial.objects.exists() or Receipts.objects.exists() or HandOver.objects.exists())


def test_it_works(collecting):
    run, leaving = ready(collecting)
    flushed(collecting, run, leaving)
    partial = Partial.objects.get()
    assert bytes(partial.body).startswith(b"mayfly partial")
    assert partial.expires_at == datetime(2026, 11, 21, tzinfo=UTC)
    assert len(bytes(Receipts.objects.get().ids)) == 8 * MIN
    assert Session.objects.get(pk=run.row.pk).state == "flushed"
    assert verify_log(whole=True).problem == ""


def test_twice_is_refused(collecting):
    run, leaving = ready(collecting)
    flushed(collecting, run, leaving)
    with pytest.raises(SessionOver):
        flushed(collecting, run, leaving)
    assert Partial.objects.count() == 1


def test_a_zombie_is_refused(collecting):
    run, leaving = ready(collecting)
    dead = Session.objects.get(pk=run.row.pk)
    assert placing.bury(dead, Session.Reason.LOST, clock=collecting.clock)
    with pytest.raises(SessionOver):
        flushed(collecting, run, leaving)
    assert nothing_is_stored()


def test_a_session_that_still_takes_updates_does_not_flush(collecting):
    run = collecting.by_hand([FIRST], MIN)
    leaving = make_ready(
        session=run.row, summing=run.summing, open_windows=list(run.windows), handing_over=[],
        clock=collecting.clock,
    )  # fmt: skip
    with pytest.raises(SessionOver):
        flushed(collecting, run, leaving)
    assert nothing_is_stored()


def test_all_or_nothing_when_the_taker_is_gone(collecting):
    collecting.go_to("2026-11-19T00:00:00")
    taker = collecting.by_hand([FIRST], 1)
    run = collecting.by_hand([FIRST], MIN)
    collecting.send(run.row, [SECOND], 5)
    completing._is_queue_empty(run)
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    leaving = make_ready(
        session=run.row, summing=run.summing, open_windows=list(run.windows),
        handing_over=list(run.windows), clock=collecting.clock,
    )  # fmt: skip
    takers = {small.window: taker.row for small in leaving.small}
    row = Session.objects.get(pk=taker.row.pk)
    placing.bury(row, Session.Reason.LOST, clock=collecting.clock)
    with pytest.raises(TakerGone):
        flushed(collecting, run, leaving, takers)
    assert nothing_is_stored()
    other = collecting.by_hand([FIRST], 1)
    flushed(collecting, run, leaving, dict.fromkeys(takers, other.row))
    assert Partial.objects.get().window.window == FIRST
    assert HandOver.objects.get().successor_id == other.row.pk


def test_of_flushes_at_once_one_commits(collecting):
    run, leaving = ready(collecting)
    outcomes = []

    def attempt():
        with collecting.in_thread():
            try:
                mine = Session.objects.get(pk=run.row.pk)
                flush(session=mine, leaving=leaving, takers={}, clock=collecting.clock)
                outcomes.append("flushed")
            except SessionOver:
                outcomes.append("over")

    at_once([attempt] * 4)
    assert sorted(outcomes) == ["flushed", "over", "over", "over"]
    assert Partial.objects.count() == 1


def test_a_flush_and_a_death_at_once_agree(collecting):
    for _ in range(5):
        run, leaving = ready(collecting)
        before = Partial.objects.count()

        def die(pk=run.row.pk):
            with collecting.in_thread():
                row = Session.objects.get(pk=pk)
                if row.state == Session.State.COMPLETING:
                    placing.bury(row, Session.Reason.LOST, clock=collecting.clock)

        def finish(run=run, leaving=leaving):
            with collecting.in_thread(), suppress(SessionOver):
                flushed(collecting, run, leaving)

        at_once([finish, die])
        state = Session.objects.get(pk=run.row.pk).state
        assert Partial.objects.count() - before == (1 if state == "flushed" else 0)
        assert state in ("flushed", "dead")


def test_a_flush_and_a_closing_at_once_agree(collecting):
    """The window leaves grace after the flush's commit, or the flush leaves nothing of it."""
    run, leaving = ready(collecting)
    seen = []

    def close():
        with collecting.in_thread(), transaction.atomic():
            window = collecting.window(FIRST)
            move(window, to=TaskWindow.State.RELEASING, clock=collecting.clock)
            # Nobody who commits later adds to what is seen here.
            seen.append(Partial.objects.count())

    def finish():
        with collecting.in_thread():
            flushed(collecting, run, leaving)

    at_once([finish, close])
    assert seen == [Partial.objects.count()]
    assert Receipts.objects.count() == Partial.objects.count()


def at_once(attempts):
    threads = [threading.Thread(target=attempt) for attempt in attempts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)


def test_a_commit_that_nobody_heard_of_is_not_repeated(collecting):
    run, leaving = ready(collecting)
    attempts = []

    def attempt():
        attempts.append(1)
        flushed(collecting, run, leaving)
        raise OperationalError("the connection was lost after the commit")

    run.row.state = Session.State.COMPLETING
    completing._settle(run, Session.State.FLUSHED, attempt)
    assert len(attempts) == 1
    assert Partial.objects.count() == 1


def test_a_database_that_was_away_is_asked_again(collecting):
    run, leaving = ready(collecting)
    attempts = []

    def attempt():
        attempts.append(1)
        if len(attempts) < 3:
            raise OperationalError("no connection")
        flushed(collecting, run, leaving)

    completing._settle(run, Session.State.FLUSHED, attempt)
    assert len(attempts) == 3
    assert Partial.objects.count() == 1


def gone(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("no folder")
    return folder.unlink


def readable_by_others(folder):
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    return lambda: folder.chmod(0o700)


def damaged(folder):
    folder.mkdir(mode=0o700, exist_ok=True)
    key = folder / f"trips-by-region.{FIRST}.1.2026-11-18"
    key.write_bytes(b"")
    return key.unlink


@pytest.mark.parametrize("spoil", [gone, readable_by_others, damaged])
def test_a_key_folder_that_is_away_or_in_disorder_is_waited_for(collecting, keys, spoil):
    run = collecting.by_hand([FIRST], MIN)
    mend = spoil(keys / "partials")

    def complete():
        with collecting.in_thread():
            completing.complete(run)

    collecting.threads.append(threading.Thread(target=complete, daemon=True))
    collecting.threads[-1].start()
    # It has met the trouble once it beats, which it does only between two attempts.
    collecting.until(run.row.pk, "completing")
    live.forget(run.row.pk)
    eventually(lambda: live.alive([run.row.pk]))
    assert nothing_is_stored()
    mend()
    collecting.until(run.row.pk, "flushed")
    assert Partial.objects.count() == 1


def test_a_death_that_is_found_on_the_way_ends_it(collecting):
    run, _ = ready(collecting)
    row = Session.objects.get(pk=run.row.pk)
    placing.bury(row, Session.Reason.LOST, clock=collecting.clock)

    def attempt():
        raise OperationalError("no connection")

    with pytest.raises(SessionOver):
        completing._settle(run, Session.State.FLUSHED, attempt)
    assert nothing_is_stored()


def answer_lost(monkeypatch, name):
    """The first `completing.<name>` commits, its answer is lost, and so is the next question."""
    real, state, lost, asked = getattr(completing, name), completing._final_state, [], []

    def commits(*args, **kwargs):
        done = real(*args, **kwargs)
        if not lost:
            lost.append(True)
            raise OperationalError
        return done

    def away_once(run):
        asked.append(True)
        return state(run) if len(asked) > 1 else None

    monkeypatch.setattr(completing, name, commits)
    monkeypatch.setattr(completing, "_final_state", away_once)


@pytest.mark.parametrize("step", ["move", "flush"])
def test_a_commit_whose_answer_is_lost_while_the_database_is_away_is_known_before_the_next_attempt(
    collecting, monkeypatch, step
):
    """Else the small sums, which follow the commit, would be lost, and the stored ones not."""
    run = collecting.by_hand([FIRST], 7)
    taker = collecting.by_hand([FIRST], 0)
    run.row.reason = Session.Reason.FULL
    answer_lost(monkeypatch, step)
    assert [small.window.id for small in completing.complete(run)] == [FIRST]
    taker.receive()
    assert taker.summing.contributions(*taker.windows) == 7


def test_a_commit_that_lands_after_its_connection_was_lost_is_waited_for(collecting, monkeypatch):
    """What became of it is asked under the lock that it still has."""
    run, taker = collecting.by_hand([FIRST], 7), collecting.by_hand([FIRST], 0)
    run.row.reason = Session.Reason.FULL
    flush_now, begun, asked = completing.flush, threading.Event(), threading.Event()

    def commits_slowly(what):
        with collecting.in_thread(), transaction.atomic():
            flush_now(**what)
            begun.set()
            asked.wait(10)

    def loses_its_connection(**what):
        if begun.is_set():
            return flush_now(**what)
        mine = {**what, "session": Session.objects.get(pk=run.row.pk)}
        server = threading.Thread(target=commits_slowly, args=(mine,))
        server.start()
        collecting.threads.append(server)
        assert begun.wait(10)
        threading.Timer(0.5, asked.set).start()
        raise OperationalError

    monkeypatch.setattr(completing, "flush", loses_its_connection)
    assert [small.window.id for small in completing.complete(run)] == [FIRST]
    taker.receive()
    assert taker.summing.contributions(*taker.windows) == 7


@pytest.mark.parametrize("count", [MIN - 1, MIN], ids=["small", "big"])
def test_nothing_goes_past_the_collectors_of_a_window_for_its_size(
    collecting, monkeypatch, settings, count
):
    """A worker stops; before the flush, a collector has come and died."""
    settings.DRAIN_SECONDS = 0.1
    run = collecting.by_hand([FIRST], count)
    collecting.by_hand([FIRST], 0)
    run.is_draining = lambda: True
    find, found = completing.find_takers, []

    def found_before(*what):
        takers = find(*what)
        if takers and not found:
            found.append(takers)
            collecting.go_to("2026-11-20T00:00:01")
            keys = SessionKeys.fresh()
            window = collecting.window(FIRST)
            gone = gathering._opened_collector(window, keys, "hand", collecting.clock)
            placing.bury(gone, Session.Reason.FAULT, clock=collecting.clock)
        return takers

    monkeypatch.setattr(completing, "find_takers", found_before)
    with suppress(SessionOver):
        completing.complete(run)
    assert found
    assert Session.objects.get(pk=run.row.pk).state == "dead"
    assert nothing_is_stored()


@pytest.mark.parametrize("count", [MIN - 1, MIN], ids=["small", "big"])
@pytest.mark.parametrize("when", ["before", "later"])
def test_a_worker_that_stops_leaves_no_sum_for_its_size_alone(
    collecting, monkeypatch, settings, count, when
):
    """Also where its session had begun to end for another reason, and had found a taker."""
    settings.DRAIN_SECONDS = 0.1
    run, stopping = collecting.by_hand([FIRST], count), [when == "before"]
    run.is_draining = lambda: any(stopping)
    run.row.reason = Session.Reason.FULL
    taker = collecting.by_hand([FIRST], 0) if when == "later" else None
    ready_by_then = completing.make_ready

    def all_stop(**what):
        leaving = ready_by_then(**what)
        stopping.append(True)
        Session.objects.filter(pk=taker.row.pk).update(reason=Session.Reason.DRAIN)
        Session.objects.filter(pk=taker.row.pk).update(state=Session.State.COMPLETING)
        return leaving

    if taker:
        monkeypatch.setattr(completing, "make_ready", all_stop)
    with suppress(SessionOver):
        completing.complete(run)
    assert Session.objects.get(pk=run.row.pk).state == "dead"
    assert nothing_is_stored()


def test_what_comes_when_a_window_is_over_is_not_counted(collecting, monkeypatch):
    """It ends while its window closes, and the database lets it wait."""
    run = collecting.by_hand([FIRST], MIN)
    run.row.reason = Session.Reason.OLD
    stop_taking = completing._stop_taking

    def comes_back_late(which):
        collecting.go_to("2026-11-20T00:00:01")
        collecting.send(which.row, [FIRST], 3)
        stop_taking(which)

    monkeypatch.setattr(completing, "_stop_taking", comes_back_late)
    completing.complete(run)
    assert run.summing.accepted == MIN
