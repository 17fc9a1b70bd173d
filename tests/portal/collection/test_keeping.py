"""What went to a collector is kept by who handed it over, until the window is done."""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import OperationalError

from aggregation.errors import Problem
from aggregation.protocol.sealing import SessionKeys
from portal.audit.services import move
from portal.collection import gathering, handing_over, keeping, live
from portal.collection.completing import complete
from portal.collection.keeping import Keeper
from portal.collection.leaving import HIGHER_LASTS
from portal.collection.models import HandOver, Partial, Session
from portal.collection.placing import bury
from portal.collection.selectors import outcome, outstanding
from tests.parts import eventually
from tests.portal.collection.collecting import MAX, full_queues, gathered_sum, release
from tests.portal.collection.test_rules import refused

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"
DUE = "2026-11-20T00:00:01"


class Fault(Exception):
    """Stands for whatever ends a process that releases a window."""


def collector_dies(collecting):
    """After everything was handed over to it."""
    window = collecting.window(FIRST)
    with suppress(Fault), gathering.gather(window=window, clock=collecting.clock) as gathered:
        raise Fault
    return gathered


@pytest.fixture
def small(collecting):
    """A session of seven devices, which is not stored, when its window is due."""
    session = collecting.start(*collecting.place())
    collecting.count(collecting.send(session, [FIRST], 7))
    collecting.taken(session, 7)
    collecting.go_to(DUE)
    return session


@dataclass
class Opened:
    """A window's collector that nobody runs, for steps one by one."""

    collecting: Any
    window: str
    keys: SessionKeys = field(default_factory=SessionKeys.fresh)
    row: Any = None

    def open(self):
        window, clock = self.collecting.window(self.window), self.collecting.clock
        self.row = gathering._opened_collector(window, self.keys, "hand", clock)


def handed_to_a_collector(collecting, devices, due=DUE):
    """A session's keeper, the collector it handed over to, and the next one, not open yet."""
    run = collecting.by_hand([FIRST], devices)
    collecting.go_to(due)
    first, second = Opened(collecting, FIRST), Opened(collecting, FIRST)
    first.open()
    run.row.reason = Session.Reason.WINDOW_CLOSED
    keeper = Keeper(run.row, complete(run), collecting.clock, lambda: False)
    assert HandOver.objects.get().successor_id == first.row.pk
    return keeper, first, second


def has_left(session):
    return not live.alive([session.pk])


def test_the_next_collector_gets_it_again(collecting, small):
    other = collecting.opened(worker="two")
    for times in range(3):
        assert collector_dies(collecting).core.contributions == 7, times
    assert Session.objects.filter(collects__window=FIRST, state="dead").count() == 3
    report = gathered_sum(collecting, FIRST)
    assert (report.sums == collecting.truth[FIRST]).all()
    assert not Partial.objects.exists()
    # It stays until the window is settled, and no longer; it never was open again.
    eventually(lambda: has_left(small))
    assert Session.objects.get(pk=small.pk).state == "flushed"
    assert outcome(small.pk).over
    assert not has_left(other)


def test_stored_and_small_sums_share_one_fate(collecting):
    """A collector that dies loses neither: one device more or less decides over nobody."""
    collecting.go_to("2026-11-19T00:00:00")
    big = collecting.start(*collecting.place())
    collecting.count(collecting.send(big, [FIRST], MAX))
    collecting.until(big.pk, "flushed")
    little = collecting.start(*collecting.place())
    collecting.count(collecting.send(little, [FIRST], 9))
    collecting.taken(little, 9)
    collecting.go_to(DUE)
    collector_dies(collecting)
    report = gathered_sum(collecting, FIRST)
    assert report.contributions == MAX + 9
    assert (report.sums == collecting.truth[FIRST]).all()


def test_what_did_not_arrive_is_given_again(collecting, small, monkeypatch):
    """A Valkey that is emptied at the wrong moment. The collector waits, however long it takes."""
    # Not before the collector has had its time to take what is given the second time.
    monkeypatch.setattr(handing_over, "OVERDUE_SECONDS", 2.0)
    monkeypatch.setattr(handing_over, "patience_seconds", lambda: 0.0)
    push, pushed, arrivals = live.push_state, [], handing_over.Arrivals()

    def lost_once(successor, document):
        pushed.append(successor)
        collector = Session.objects.get(pk=successor)
        if len(pushed) == 1:
            assert not arrivals.are_over(outstanding(collector))
        else:
            eventually(lambda: arrivals.are_over(outstanding(collector)))
            push(successor, document)

    monkeypatch.setattr(live, "push_state", lost_once)
    report = gathered_sum(collecting, FIRST)
    assert (report.sums == collecting.truth[FIRST]).all()
    assert len(pushed) == 2


def test_who_is_silent_for_a_moment_is_waited_for(collecting, small):
    """A Valkey that came back empty has forgotten who is alive."""
    collector_dies(collecting)
    for _ in range(3):
        live.forget(small.pk)
        assert collector_dies(collecting).core.contributions == 7


def test_a_collector_that_is_dead_marks_nothing_of_the_next_one(collecting):
    """It was declared dead while it took something over, and goes on."""
    keeper, first, second = handed_to_a_collector(collecting, 5)
    taken = []

    def take_late(session, window, state):
        bury(first.row, Session.Reason.LOST, clock=collecting.clock)
        second.open()
        keeper._look()

    handing_over.receive(first.row, first.keys, take_late)
    row = HandOver.objects.get()
    assert (row.successor_id, row.received) == (second.row.pk, False)
    handing_over.receive(second.row, second.keys, lambda *given: taken.append(given))
    assert len(taken) == 1
    assert HandOver.objects.get().received


def test_what_is_refused_once_is_not_waited_for_again(collecting):
    """A state that was taken and could not be marked is refused when it comes again."""
    _, first, _ = handed_to_a_collector(collecting, 5)

    def refuse(*_):
        raise Problem("It is here already.")

    handing_over.receive(first.row, first.keys, refuse)
    assert HandOver.objects.get().received


def test_a_late_release_is_no_different(collecting, small):
    collecting.go_to("2026-11-25T12:00:00")
    for _ in range(2):
        assert collector_dies(collecting).core.contributions == 7


def test_what_went_to_a_session_is_not_kept(collecting):
    """Its devices may send again once that session is dead: it must not come back."""
    run = collecting.by_hand([FIRST], 5)
    collecting.opened(worker="two")
    run.row.reason = Session.Reason.FULL
    keeper = Keeper(run.row, complete(run), collecting.clock, lambda: False)
    assert keeper.small
    keeper.keep()
    assert keeper.small == []


def test_it_leaves_when_the_window_is_done_without_it(collecting, small):
    collector_dies(collecting)
    release(collecting, FIRST)
    eventually(lambda: has_left(small))


def test_it_leaves_when_its_worker_stops_and_nobody_waits_for_it(collecting, small):
    collector_dies(collecting)
    collecting.stopping.add("one")
    collecting.join()
    assert gathered_sum(collecting, FIRST).contributions == 0


def test_it_leaves_when_a_stored_sum_would_be_erased(collecting, small):
    collector_dies(collecting)
    assert not has_left(small)
    collecting.clock.set(collecting.window(FIRST).due_at + HIGHER_LASTS)
    collecting.join()


def test_it_leaves_when_it_is_cut_off_from_the_database(collecting, small, monkeypatch, caplog):
    """It would keep the window from being released."""
    collector_dies(collecting)

    def away():
        raise OperationalError("away")

    monkeypatch.setattr(keeping, "kept", away)
    monkeypatch.setattr(keeping, "patience_seconds", lambda: 1.0)
    collecting.join()
    assert f"Session {small.pk} is cut off" in caplog.text
    assert gathered_sum(collecting, FIRST).contributions == 0


def test_it_stays_while_only_the_queues_are_away(collecting, monkeypatch, caplog):
    """Nobody waits for it then: the collector that lacks its sum waits for the queues, too."""
    monkeypatch.setattr(keeping, "patience_seconds", lambda: 0.3)
    keeper, first, second = handed_to_a_collector(collecting, 5)
    bury(first.row, Session.Reason.LOST, clock=collecting.clock)
    second.open()
    until = time.monotonic() + 1
    keeper.is_draining = lambda: time.monotonic() > until
    with full_queues():
        keeper._stay()
    assert "is cut off" not in caplog.text
    keeper._look()
    taken: list[tuple[Any, ...]] = []
    handing_over.receive(second.row, second.keys, lambda *given: taken.append(given))
    assert len(taken) == 1


GO_ON = "UPDATE collection_handover SET successor_id = %s, received = %s"


def test_the_database_lets_it_go_on_to_an_open_collector_of_its_window_only(collecting):
    collecting.go_to("2026-11-19T00:00:00")
    _, first, second = handed_to_a_collector(collecting, 5, due="2026-11-21T00:00:01")
    elsewhere = Opened(collecting, SECOND)
    elsewhere.open()
    session = collecting.opened(worker="two")
    # Its collector lives.
    assert "from a dead collector" in refused(GO_ON, elsewhere.row.pk, False)
    bury(first.row, Session.Reason.LOST, clock=collecting.clock)
    # To nobody's collector, another window's, one that is there already, one that takes no more.
    assert "to an open one" in refused(GO_ON, session.pk, False)
    assert "to an open one" in refused(GO_ON, elsewhere.row.pk, False)
    second.open()
    assert "to an open one" in refused(GO_ON, second.row.pk, True)
    assert move(second.row, to=Session.State.COMPLETING, clock=collecting.clock)
    assert "to an open one" in refused(GO_ON, second.row.pk, False)


@pytest.mark.parametrize("state", ["open", "dead"])
def test_the_database_lets_nothing_go_on_from_a_session(collecting, state):
    """What it held may be stored by it, or sent again: it would count twice."""
    run, other = collecting.by_hand([FIRST], 5), collecting.by_hand([FIRST], 1)
    run.row.reason = Session.Reason.FULL
    complete(run)
    assert HandOver.objects.get().successor_id == other.row.pk
    collecting.go_to(DUE)
    collector = Opened(collecting, FIRST)
    collector.open()
    if state == "dead":
        bury(other.row, Session.Reason.LOST, clock=collecting.clock)
    assert "from a dead collector" in refused(GO_ON, collector.row.pk, False)


def test_what_was_received_stays_so(collecting):
    _, first, _ = handed_to_a_collector(collecting, 5)
    handing_over.receive(first.row, first.keys, lambda *_: None)
    assert "only ever received" in refused("UPDATE collection_handover SET received = %s", False)
