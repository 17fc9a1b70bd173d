"""Exact counts: the ids in a sum, stored or handed over, and only where phones are made up."""

import io

import pytest
from django.core.management import call_command

from aggregation.errors import Problem
from portal.collection import at_rest
from portal.collection.exact import Seen, keep_copies
from portal.management.commands import prepare_simulation
from portal.tasks.models import Population
from tests.portal.collection.collecting import MAX, gathered_sum

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"
DUE = "2026-11-20T00:00:00"


def told(seen: Seen) -> set[str]:
    found = [ids[at : at + 8].hex() for all_ids in seen.counted().values() for ids in all_ids
             for at in range(0, len(ids), 8)]  # fmt: skip
    assert len(found) == len(set(found))
    return set(found)


def test_what_was_stored_and_what_was_small_is_told(collecting):
    keep_copies()
    big = collecting.start(*collecting.place())
    stored = collecting.send(big, [FIRST], MAX)
    collecting.until(big.pk, "flushed")
    assert told(Seen.so_far()) == set(stored)
    small = collecting.start(*collecting.place())
    handed_over = collecting.send(small, [FIRST], 9)
    collecting.taken(small, 9)
    collecting.go_to(DUE)
    gathered_sum(collecting, FIRST)
    seen = Seen.so_far()
    assert told(seen) == {*stored, *handed_over}
    # A receipt beside the hand-over to a release would be a second time in its sum.
    window = next(window for session, window in seen.handed_over if session == small.pk)
    seen.receipts[small.pk, window] = bytes.fromhex(handed_over[0])
    again = bytes.fromhex(handed_over[0])
    assert b"".join(seen.counted()[window]).count(again) == 2


def test_it_refuses_where_time_is_real(settings, monkeypatch):
    settings.CLOCK = "system"
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(Problem, match="Exact counts are for made-up phones alone"):
        call_command("exact_counts")
    with pytest.raises(Problem, match="its own time"):
        call_command("prepare_simulation", "--populations", "DE")


def test_a_simulation_is_prepared_as_a_whole_or_not_at_all(db, settings, monkeypatch):
    """Tasks without copies would be taken for a simulation that was prepared, and count nothing."""
    settings.DEMO = True
    call_command("make_demo_people", verbosity=0)
    known = Population.objects.count()

    def fails() -> None:
        raise Problem("The disk is full.")

    monkeypatch.setattr(prepare_simulation, "keep_copies", fails)
    with pytest.raises(Problem, match="disk"):
        prepare_simulation._seed(["near-by"], [])
    assert Population.objects.count() == known


def test_only_a_simulation_may_keep_copies(db, settings):
    keep_copies()
    settings.CLOCK = "simulated"
    assert at_rest.checks()[-1].ok
    settings.CLOCK = "system"
    assert "exact_counts_seen.ids" in at_rest.checks()[-1].detail
