"""Partials become unreadable in time: the key's file is gone, whatever is left of the row."""

import pytest

from aggregation.errors import Problem
from aggregation.partials.envelope import Label, open_partial
from aggregation.partials.keys import KeyName
from portal.audit.models import Entry
from portal.audit.services import move
from portal.collection import jobs
from portal.collection.completing import complete
from portal.collection.erasing import erase_partials
from portal.collection.keys import partial_keys
from portal.collection.models import Partial, Receipts, Session
from tests.portal.collection.collecting import MIN, gathered_sum, release

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"


def stored(collecting):
    """A partial as it is kept, and what is needed to open it while its key is there."""
    complete(collecting.by_hand([FIRST], MIN))
    partial = Partial.objects.select_related("window").latest("created_at", "pk")
    label = Label(
        table="collection_partial", partial=partial.pk, task="trips-by-region",
        window=partial.window.as_window(), level=1, session=partial.session_id,
    )  # fmt: skip
    return partial, label


def files(keys):
    folder = keys / "partials"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_it_works(collecting, keys):
    partial, label = stored(collecting)
    copy, name = bytes(partial.body), label.key_name(partial.key_day)
    assert open_partial(copy, label=label, key=partial_keys().for_opening(name))
    assert files(keys) == ["trips-by-region.2026-11-17.1.2026-11-18"]
    collecting.go_to("2026-11-20T00:00:00")
    gathered_sum(collecting, FIRST)
    release(collecting, FIRST)
    erase_partials(clock=collecting.clock)
    # A backup has the envelope; nobody has the key.
    assert files(keys) == []
    with pytest.raises(Problem, match="has been erased"):
        partial_keys().for_opening(name)
    row = Partial.objects.get()
    assert (row.state, bytes(row.body)) == ("erased", b"")
    assert not Receipts.objects.exists()
    assert Entry.objects.filter(object_id=partial.pk).count() == 3


def test_merged_partials_keep_their_key_for_the_rest_of_the_day(collecting, keys):
    """A session of the same day may be about to seal with it."""
    stored(collecting)
    collecting.go_to("2026-11-20T00:00:00")
    # Another one on the day of the closing, which is merged at once.
    late = collecting.by_hand(["2026-11-18"], MIN)
    complete(late)
    partial = Partial.objects.get(session=late.row)
    assert move(partial, to=Partial.State.MERGED, clock=collecting.clock)
    erase_partials(clock=collecting.clock)
    assert partial.key_day == collecting.clock.now().date()
    assert "trips-by-region.2026-11-18.1.2026-11-20" in files(keys)
    collecting.go_to("2026-11-20T23:59:59")
    erase_partials(clock=collecting.clock)
    assert "trips-by-region.2026-11-18.1.2026-11-20" in files(keys)
    collecting.go_to("2026-11-21T00:00:00")
    erase_partials(clock=collecting.clock)
    assert "trips-by-region.2026-11-18.1.2026-11-20" not in files(keys)


def test_one_that_waited_too_long_expires(collecting, keys):
    stored(collecting)
    collecting.go_to("2026-11-20T23:59:59")
    erase_partials(clock=collecting.clock)
    assert Partial.objects.get().state == "stored"
    collecting.go_to("2026-11-21T00:00:00")
    erase_partials(clock=collecting.clock)
    row = Partial.objects.get()
    assert (row.state, bytes(row.body)) == ("expired", b"")
    assert files(keys) == []
    # What it held is lost, and the release goes on without it.
    assert gathered_sum(collecting, FIRST).contributions == 0


def test_a_key_stays_while_a_session_seals_with_it(collecting, keys):
    stored(collecting)
    sealing = collecting.by_hand([FIRST], MIN)
    assert move(sealing.row, to=Session.State.COMPLETING, clock=collecting.clock)
    collecting.go_to("2026-11-22T00:00:00")
    erase_partials(clock=collecting.clock)
    assert Partial.objects.get().state == "stored"
    assert len(files(keys)) == 1


def test_a_key_without_a_partial_goes_in_time(collecting, keys):
    name = KeyName("trips-by-region", FIRST, 1, collecting.clock.now().date())
    higher = KeyName("trips-by-region", FIRST, 2, collecting.clock.now().date())
    strange = KeyName("another-system", FIRST, 1, collecting.clock.now().date())
    for one in (name, higher, strange):
        partial_keys().for_sealing(one)
    erase_partials(clock=collecting.clock)
    assert len(files(keys)) == 3
    collecting.go_to("2026-11-21T00:00:00")
    erase_partials(clock=collecting.clock)
    assert files(keys) == sorted([strange.file, higher.file])
    # Seven days after the end of grace.
    collecting.go_to("2026-11-27T00:00:00")
    erase_partials(clock=collecting.clock)
    assert files(keys) == [strange.file]


def test_asking_again_changes_nothing(collecting, monkeypatch):
    stored(collecting)
    collecting.go_to("2026-11-21T00:00:00")
    monkeypatch.setattr(jobs, "civil_clock", lambda: collecting.clock)
    jobs.erase_partials()
    entries = Entry.objects.count()
    jobs.erase_partials()
    assert Entry.objects.count() == entries
