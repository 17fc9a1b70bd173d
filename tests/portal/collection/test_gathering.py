"""Gathering a closing window: everything once, by one collector, and nothing afterwards."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from aggregation.errors import Problem
from portal.audit.services import move
from portal.collection import erasing, gathering, live
from portal.collection.flushing import flush
from portal.collection.leaving import make_ready
from portal.collection.models import Hold, Partial, Receipts, Session
from portal.collection.selectors import open_windows
from portal.problems import Conflict
from portal.tasks.models import TaskWindow
from portal.valkey import queue_client
from tests.parts import eventually
from tests.portal.collection.collecting import MAX, MIN, gathered_sum

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"
DUE = "2026-11-20T00:00:00"


def test_stored_and_small_sums_come_together(collecting):
    big = collecting.start(*collecting.place())
    updates = collecting.send(big, [FIRST], MAX)
    collecting.until(big.pk, "flushed")
    small = collecting.start(*collecting.place())
    updates += collecting.send(small, [FIRST], 9)
    collecting.taken(small, 9)
    collecting.count(updates)
    collecting.go_to(DUE)
    report = gathered_sum(collecting, FIRST)
    assert report.contributions == MAX + 9
    assert (report.sums == collecting.truth[FIRST]).all()
    collector = Session.objects.get(collects__window=FIRST)
    assert collector.state == "flushed"


def test_what_has_expired_is_not_read_although_its_key_is_there(collecting):
    session = collecting.start(*collecting.place())
    collecting.send(session, [FIRST], MAX)
    collecting.until(session.pk, "flushed")
    collecting.go_to(DUE)
    collecting.clock.set(Partial.objects.get().expires_at)
    assert gathered_sum(collecting, FIRST).contributions == 0
    erasing.erase_partials(clock=collecting.clock)
    assert Partial.objects.get().state == "expired"


def test_it_refuses_a_window_that_is_not_due(collecting):
    for window in (FIRST, SECOND):
        with (
            pytest.raises(Conflict, match="is not to be gathered"),
            gathering.gather(window=collecting.window(window), clock=collecting.clock),
        ):
            pass
    assert not Session.objects.filter(collects__isnull=False).exists()


def test_one_gathers_at_a_time(collecting):
    collecting.go_to(DUE)
    window = collecting.window(FIRST)
    with (
        gathering.gather(window=window, clock=collecting.clock),
        pytest.raises(Conflict, match="being gathered already"),
        gathering.gather(window=window, clock=collecting.clock),
    ):
        pass
    # The first one did not settle: it is dead, and the window can be gathered again.
    assert Session.objects.get(collects=window).state == "dead"
    assert gathered_sum(collecting, FIRST).contributions == 0


def test_a_collector_that_died_loses_nothing_that_was_stored(collecting):
    session = collecting.start(*collecting.place())
    collecting.count(collecting.send(session, [FIRST], MAX))
    collecting.until(session.pk, "flushed")
    collecting.go_to(DUE)
    with (
        pytest.raises(ZeroDivisionError),
        gathering.gather(window=collecting.window(FIRST), clock=collecting.clock),
    ):
        raise ZeroDivisionError
    assert (gathered_sum(collecting, FIRST).sums == collecting.truth[FIRST]).all()


def test_settling_is_part_of_the_caller_s_transaction(collecting):
    session = collecting.start(*collecting.place())
    collecting.send(session, [FIRST], MAX)
    collecting.until(session.pk, "flushed")
    collecting.go_to(DUE)
    window = collecting.window(FIRST)
    with gathering.gather(window=window, clock=collecting.clock) as gathered:
        with pytest.raises(RuntimeError, match="transaction"):
            gathering.settle(gathered, clock=collecting.clock)
        with pytest.raises(ZeroDivisionError):
            settle_and_fail(gathered, collecting.clock)
        assert Partial.objects.get().state == "stored"
    assert Session.objects.get(collects=window).state == "dead"


@transaction.atomic
def settle_and_fail(gathered, clock):
    gathering.settle(gathered, clock=clock)
    raise ZeroDivisionError


def test_a_collector_that_was_declared_dead_settles_nothing(collecting):
    from portal.collection.placing import bury

    collecting.go_to(DUE)
    window = collecting.window(FIRST)
    with gathering.gather(window=window, clock=collecting.clock) as gathered:
        row = Session.objects.get(collects=window)
        bury(row, Session.Reason.LOST, clock=collecting.clock)
        with pytest.raises(Conflict, match="declared dead"), transaction.atomic():
            gathering.settle(gathered, clock=collecting.clock)


def test_it_waits_for_whoever_holds_the_window(collecting):
    zombie = collecting.by_hand([FIRST], MIN)
    collecting.go_to(DUE)
    window = collecting.window(FIRST)
    with (
        pytest.raises(Problem, match="did not end in time"),
        gathering.gather(window=window, clock=collecting.clock, within_seconds=0.3),
    ):
        pass
    # It never says that it is alive: the controller buries it, and nobody is waited for.
    eventually(lambda: is_buried(collecting, zombie))
    assert gathered_sum(collecting, FIRST).contributions == 0


def test_it_waits_for_a_valkey_that_is_not_well(collecting, parts):
    """What it has taken over may be nowhere else: a second collector would be without it."""
    holder = collecting.by_hand([FIRST], MIN)
    collecting.go_to(DUE)
    collector, before = Session.objects.filter(collects__window=FIRST), errors()

    def trouble() -> None:
        with parts():
            eventually(collector.exists)
            handed_over = live.key(collector.get().pk, "handovers")
            queue_client().set(handed_over, "no list")
            eventually(lambda: errors() > before + 1)
            queue_client().delete(handed_over)
            eventually(lambda: is_buried(collecting, holder))

    with ThreadPoolExecutor() as beside:
        done = beside.submit(trouble)
        assert gathered_sum(collecting, FIRST).contributions == 0
        done.result()
    assert collector.get().state == "flushed"


def errors() -> int:
    """Answers with an error that Valkey gave so far."""
    return int(queue_client().info("stats")["total_error_replies"])


def is_buried(collecting, run):
    collecting.place()
    return Session.objects.get(pk=run.row.pk).state == "dead"


def test_a_window_that_is_gathered_never_opens_again(collecting):
    """Not even if the clock is set back."""
    session = collecting.start(*collecting.place())
    collecting.go_to(DUE)
    gathered_sum(collecting, FIRST)
    collecting.clock.set(collecting.window(FIRST).due_at.replace(day=18))
    assert not open_windows(collecting.clock.now()).filter(window=FIRST).exists()
    eventually(lambda: not Hold.objects.filter(session=session, window__window=FIRST).exists())


def late(collecting):
    """A session that completes with a window that has left grace meanwhile."""
    run = collecting.by_hand([FIRST], MIN)
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    leaving = make_ready(
        session=run.row,
        summing=run.summing,
        open_windows=list(run.windows),
        handing_over=[],
        clock=collecting.clock,
    )
    window = collecting.window(FIRST)
    assert move(window, to=TaskWindow.State.RELEASING, clock=collecting.clock)
    return run, leaving


def test_a_late_flush_leaves_nothing_of_the_window(collecting):
    run, leaving = late(collecting)
    flush(session=run.row, leaving=leaving, takers={}, clock=collecting.clock)
    assert Session.objects.get(pk=run.row.pk).state == "flushed"
    assert not Partial.objects.exists()
    assert not Receipts.objects.exists()
