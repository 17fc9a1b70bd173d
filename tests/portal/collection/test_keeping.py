"""What went to a collector is kept by who handed it over, until the window is done."""

from contextlib import suppress
from datetime import timedelta

import msgspec
import pytest

from portal.collection import gathering, handing_over, live, placing
from portal.collection.leaving import LEVEL_1_LASTS
from portal.collection.models import HandOver, Partial, Session
from portal.collection.selectors import outcome
from portal.valkey import queue_client
from tests.parts import eventually
from tests.portal.collection.collecting import MAX, gathered_sum, release
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
    """A Valkey that is emptied at the wrong moment."""
    monkeypatch.setattr(handing_over, "OVERDUE", timedelta(seconds=0.5))
    push, pushed = live.push_state, []

    def lost_once(successor, document):
        pushed.append(successor)
        if len(pushed) > 1:
            push(successor, document)

    monkeypatch.setattr(live, "push_state", lost_once)
    report = gathered_sum(collecting, FIRST)
    assert (report.sums == collecting.truth[FIRST]).all()
    assert len(pushed) == 2


def test_it_has_a_slot_as_long_as_it_keeps_something(collecting, small):
    collector_dies(collecting)
    collecting.place()  # and one for the next window
    collecting.place()
    assert placing.findings().taken == 2
    gathered_sum(collecting, FIRST)
    eventually(lambda: has_left(small))
    collecting.place()
    assert placing.findings().taken == 1


def test_it_leaves_when_the_window_is_done_without_it(collecting, small):
    collector_dies(collecting)
    release(collecting, FIRST)
    eventually(lambda: has_left(small))


def test_it_leaves_when_its_worker_stops_and_nobody_waits_for_it(collecting, small):
    collector_dies(collecting)
    collecting.stopping.add("one")
    collecting.join()
    assert gathered_sum(collecting, FIRST).contributions == 0


def test_it_leaves_when_somebody_waits_for_its_slot(collecting, small):
    collector_dies(collecting)
    waiting = placing.Findings(waiting=("somebody",))
    queue_client().set(placing.FINDINGS, msgspec.json.encode(waiting), ex=30)
    collecting.join()
    queue_client().delete(placing.FINDINGS)


def test_it_leaves_when_a_stored_sum_would_be_erased(collecting, small):
    collector_dies(collecting)
    assert not has_left(small)
    collecting.clock.set(collecting.window(FIRST).due_at + LEVEL_1_LASTS)
    collecting.join()


def test_the_database_lets_it_go_on_from_a_dead_collector_to_an_open_one_only(collecting, small):
    other = collecting.opened(worker="two")
    window = collecting.window(FIRST)
    go_on = "UPDATE collection_handover SET successor_id = %s, received = %s"
    with gathering.gather(window=window, clock=collecting.clock):
        first = HandOver.objects.get(session=small).successor
        # Its collector lives.
        assert "from a dead collector" in refused(go_on, other.pk, False)
        assert "only ever received" in refused(
            "UPDATE collection_handover SET received = %s", False
        )
    assert Session.objects.get(pk=first.pk).state == "dead"
    collecting.stopping.add("one")
    eventually(lambda: has_left(small))
    # To a session that collects nothing, to one that is over, and as if it had arrived already.
    assert "to an open one" in refused(go_on, other.pk, False)
    with gathering.gather(window=window, clock=collecting.clock):
        open_one = Session.objects.get(collects=window, state="completing")
        assert "to an open one" in refused(go_on, open_one.pk, False)
