"""Storing a release while the database fails: with what is in memory, and once."""

import pytest
from django.db import OperationalError

from aggregation.release.noised import Noised
from portal.audit.models import Entry
from portal.collection import placing
from portal.collection.models import Session
from portal.ledger.models import Charge
from portal.releases import failpoints, running, services
from portal.releases.models import Release
from tests.portal.releases.test_releasing import pauses_are_over
from tests.privacy.without_noise import NoNoise

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"


@pytest.fixture
def due(collecting, monkeypatch):
    """A window is due, all of which is in the memory of a session; noise is off."""
    session = collecting.start(*collecting.place())
    updates = collecting.send(session, [FIRST], 9)
    collecting.taken(session, 9)
    collecting.count(updates)
    collecting.go_to("2026-11-20T00:00:00")
    made = services.add_noise
    monkeypatch.setattr(services, "add_noise", lambda *given: made(*given, draws=NoNoise()))
    monkeypatch.setattr(services, "PAUSES", (0.01, 0.01, 0.01))
    return collecting


def test_a_commit_that_fails_is_tried_again(due, monkeypatch):
    """With the same numbers: what was handed over is nowhere else."""
    monkeypatch.setattr(failpoints, "hook", fails(at="moved", times=3))
    running.release_due_windows(clock=due.clock)
    released_once(due)


def test_a_commit_that_nobody_heard_of_is_not_repeated(due, monkeypatch):
    commit, tries = services._commit, []

    def unheard(*given, **named):
        tries.append(1)
        commit(*given, **named)
        raise OperationalError("the connection was lost after the commit")

    monkeypatch.setattr(services, "_commit", unheard)
    running.release_due_windows(clock=due.clock)
    assert len(tries) == 1
    released_once(due)


def test_a_database_that_stays_away_is_left_alone(due, monkeypatch):
    """The collector is dead then, and the window stays due."""
    monkeypatch.setattr(failpoints, "hook", fails(at="moved", times=4))
    running.release_due_windows(clock=due.clock)
    assert not Release.objects.exists()
    assert due.window(FIRST).state == "releasing"
    assert Session.objects.get(collects__window=FIRST).state == "dead"


def test_a_collector_that_is_over_stores_nothing_even_if_another_has(due, monkeypatch, caplog):
    """It was away with its numbers in memory; the next one has released the window meanwhile."""

    def overtaken(place):
        if place == "noised":
            monkeypatch.setattr(failpoints, "hook", lambda place: None)
            row = Session.objects.get(collects__window=FIRST)
            assert placing.bury(row, Session.Reason.LOST, clock=due.clock)
            pauses_are_over()
            running.release_due_windows(clock=due.clock)
            assert Release.objects.count() == 1

    monkeypatch.setattr(failpoints, "hook", overtaken)
    running.release_due_windows(clock=due.clock)
    assert "is not being released by this collector any more" in caplog.text
    assert Entry.objects.filter(action="release.made").count() == 1


def fails(*, at, times):
    left = [OperationalError("no connection")] * times

    def hook(place):
        if place == at and left:
            raise left.pop()

    return hook


def released_once(due):
    assert (Noised.decode(bytes(Release.objects.get().noised)).sums == due.truth[FIRST]).all()
    assert list(Charge.objects.filter(window=FIRST).values_list("state")) == [("spent",)]
    assert Entry.objects.filter(action="release.made").count() == 1
    assert Session.objects.get(collects__window=FIRST).state == "flushed"
