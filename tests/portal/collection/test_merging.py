"""Merging stored partials: exact, once, whoever else is at it and whenever somebody dies."""

import os
import signal
import threading
from datetime import timedelta

import pytest
from django.db import IntegrityError, connections, transaction

from aggregation.core.checks import Params
from aggregation.errors import Problem
from aggregation.partials.merge import fold
from portal.audit.models import Entry
from portal.audit.services import move
from portal.audit.verification import verify_log
from portal.collection import erasing, gathering, merging
from portal.collection.flushing import flush
from portal.collection.keys import partial_keys
from portal.collection.leases import lease
from portal.collection.leaving import make_ready
from portal.collection.merge_plan import FAN_IN, Merge
from portal.collection.merging import MergeLost, merge_once, merge_partials
from portal.collection.models import Partial, Receipts, Session
from portal.collection.opening import config_of
from portal.collection.stored import as_stored
from portal.tasks.models import TaskWindow
from tests.parts import eventually
from tests.portal.collection.collecting import MIN, gathered_sum

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"
DUE = "2026-11-20T00:00:00"


def flush_one(collecting, count=MIN):
    """A session that leaves one partial of level 1, with what its devices sent."""
    run = collecting.by_hand([FIRST], count)
    sent = list(collecting.sent)[-count:]
    collecting.count(sent)
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    leaving = make_ready(
        session=run.row,
        summing=run.summing,
        open_windows=list(run.windows),
        handing_over=[],
        clock=collecting.clock,
    )
    flush(session=run.row, leaving=leaving, takers={}, clock=collecting.clock)
    return Partial.objects.get(session=run.row)


def flush_several(collecting, number=FAN_IN):
    return [flush_one(collecting) for _ in range(number)]


def merge_of(partials):
    return Merge(partials[0].level, tuple(one.pk for one in partials))


def sum_of_stored(collecting):
    """What the stored partials of the window hold together, without changing anything."""
    window = collecting.window(FIRST)
    rows = Partial.objects.filter(window=window, state="stored")
    config = config_of(Session.objects.filter(collects=None).first())
    stored = [as_stored(one, window) for one in rows]
    return fold(stored, keys=partial_keys(), params=Params.of(config)).report()


def states():
    return sorted(Partial.objects.values_list("level", "state"))


def test_it_works(collecting):
    flush_several(collecting)
    before = sum_of_stored(collecting)
    merge_partials(clock=collecting.clock)
    assert states() == [(1, "merged")] * FAN_IN + [(2, "stored")]
    made = Partial.objects.get(level=2)
    window = collecting.window(FIRST)
    assert made.session_id is None
    assert made.expires_at == window.due_at + timedelta(days=7)
    after = sum_of_stored(collecting)
    assert (after.sums == before.sums).all()
    assert (after.sums == collecting.truth[FIRST]).all()
    assert after.contributions == before.contributions == FAN_IN * MIN
    # Receipts say what is counted; merging changes nothing about that.
    assert sum(len(bytes(row.ids)) for row in Receipts.objects.all()) == 8 * FAN_IN * MIN
    assert Entry.objects.filter(object_id=made.pk, action="partial.stored").count() == 1
    assert Entry.objects.filter(action="partial.merged").count() == FAN_IN
    assert verify_log(whole=True).problem == ""
    merge_partials(clock=collecting.clock)
    assert Partial.objects.count() == FAN_IN + 1


def test_a_release_of_a_tree_is_that_of_its_leaves(collecting):
    """Three levels, in an order of their own, with some that were never merged."""
    for _ in range(2):
        flush_several(collecting, 3)
        level_1 = Partial.objects.filter(level=1, state="stored").order_by("-pk")
        window = collecting.window(FIRST)
        merge_once(window=window, merge=merge_of(list(level_1)), clock=collecting.clock)
    level_2 = list(Partial.objects.filter(level=2).order_by("-pk"))
    merge_once(window=window, merge=merge_of(level_2), clock=collecting.clock)
    flush_one(collecting)
    collecting.go_to(DUE)
    report = gathered_sum(collecting, FIRST)
    assert report.contributions == 7 * MIN
    assert (report.sums == collecting.truth[FIRST]).all()
    assert Partial.objects.filter(state="merged").count() == Partial.objects.count()


def test_over_night_one_is_merged_alone_and_its_key_goes(collecting):
    flush_one(collecting)
    merge_partials(clock=collecting.clock)
    assert states() == [(1, "stored")]
    erasing.erase_partials(clock=collecting.clock)
    collecting.go_to("2026-11-19T00:00:01")
    merge_partials(clock=collecting.clock)
    assert states() == [(1, "merged"), (2, "stored")]
    erasing.erase_partials(clock=collecting.clock)
    assert states() == [(1, "erased"), (2, "stored")]
    assert [name.level for name in partial_keys().names()] == [2]
    assert bytes(Partial.objects.get(level=1).body) == b""
    assert (sum_of_stored(collecting).sums == collecting.truth[FIRST]).all()


def test_the_key_of_a_day_stays_while_that_day_lasts_or_a_session_completes(collecting):
    flush_several(collecting)
    merge_partials(clock=collecting.clock)
    erasing.erase_partials(clock=collecting.clock)
    assert [name.level for name in partial_keys().names()] == [1, 2]
    # One that completes since yesterday may be sealing with yesterday's key.
    run = collecting.by_hand([FIRST], MIN)
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    collecting.go_to("2026-11-19T00:00:01")
    erasing.erase_partials(clock=collecting.clock)
    assert [name.level for name in partial_keys().names()] == [1, 2]
    move(run.row, to=Session.State.DEAD, clock=collecting.clock, ended_at=run.row.opened_at)
    erasing.erase_partials(clock=collecting.clock)
    assert [name.level for name in partial_keys().names()] == [2]


def test_of_two_workers_with_the_same_partials_one_wins(collecting):
    partials = flush_several(collecting, 3)
    window, merge = collecting.window(FIRST), merge_of(partials)
    ready, outcomes = threading.Barrier(2), []

    def work():
        with collecting.in_thread():
            sealed = merging._sealed(window, merge, collecting.clock.now().date())
            ready.wait(timeout=60)
            try:
                merging._commit(window, merge, sealed, clock=collecting.clock)
                outcomes.append("won")
            except MergeLost:
                outcomes.append("lost")

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(outcomes) == ["lost", "won"]
    assert states() == [(1, "merged")] * 3 + [(2, "stored")]
    assert (sum_of_stored(collecting).sums == collecting.truth[FIRST]).all()


def test_a_merge_under_way_is_not_begun_again(collecting):
    flush_several(collecting)
    window = collecting.window(FIRST)
    with lease(f"merge:{window.pk}:1", seconds=60) as ours:
        assert ours
        merge_partials(clock=collecting.clock)
        assert states() == [(1, "stored")] * FAN_IN
    merge_partials(clock=collecting.clock)
    assert states() == [(1, "merged")] * FAN_IN + [(2, "stored")]


def test_a_window_that_closes_during_a_merge_keeps_its_partials(collecting):
    partials = flush_several(collecting, 3)
    window, merge = collecting.window(FIRST), merge_of(partials)
    sealed = merging._sealed(window, merge, collecting.clock.now().date())
    collecting.go_to(DUE)
    with gathering.gather(window=window, clock=collecting.clock, within_seconds=20) as gathered:
        with pytest.raises(MergeLost):
            merging._commit(window, merge, sealed, clock=collecting.clock)
        with transaction.atomic():
            gathering.settle(gathered, clock=collecting.clock)
        report = gathered.core.report()
    assert (report.sums == collecting.truth[FIRST]).all()
    assert report.contributions == 3 * MIN
    assert not Partial.objects.filter(level=2).exists()


def test_merging_goes_on_while_a_release_waits_for_sessions(collecting):
    partials = flush_several(collecting, 3)
    small = collecting.start(*collecting.place())
    collecting.count(collecting.send(small, [FIRST], 5))
    collecting.taken(small, 5)
    collecting.go_to(DUE)
    window, reports = collecting.window(FIRST), []

    def release():
        with collecting.in_thread():
            reports.append(gathered_sum(collecting, FIRST))

    thread = threading.Thread(target=release)
    with transaction.atomic():
        # The window's row is ours: the release cannot close it before the merge is in.
        TaskWindow.objects.select_for_update().get(pk=window.pk)
        if connections["default"].vendor == "postgresql":
            thread.start()
        merge_once(window=window, merge=merge_of(partials), clock=collecting.clock)
    if not thread.ident:
        thread.start()
    thread.join(timeout=30)
    assert reports[0].contributions == 3 * MIN + 5
    assert (reports[0].sums == collecting.truth[FIRST]).all()


def test_the_database_takes_no_merge_after_closing(collecting):
    flush_one(collecting)
    window = collecting.window(FIRST)
    assert move(window, to=TaskWindow.State.RELEASING, clock=collecting.clock)
    with pytest.raises(IntegrityError, match="for a window in grace"), transaction.atomic():
        Partial.objects.create(
            id="f" * 32, window=window, level=2, key_day=collecting.clock.now().date(),
            body=b"x", created_at=collecting.clock.now(), expires_at=window.due_at,
        )  # fmt: skip


def test_what_has_expired_is_not_merged(collecting):
    flush_several(collecting)
    collecting.clock.set(Partial.objects.first().expires_at)
    merge_partials(clock=collecting.clock)
    assert states() == [(1, "stored")] * FAN_IN


def test_a_partial_that_was_tampered_with_stops_its_own_merge_only(collecting, caplog):
    partials = flush_several(collecting)
    window = collecting.window(FIRST)
    bodies = {one.pk: one.body for one in partials}
    swapped = as_stored(partials[0], window)
    partials[1].body = bodies[partials[0].pk]
    with pytest.raises(Problem, match="does not open"):
        fold(
            [swapped, as_stored(partials[1], window)],
            keys=partial_keys(),
            params=Params.of(config_of(Session.objects.first())),
        )
    partial_keys().erase(swapped.label.key_name(swapped.day))
    merge_partials(clock=collecting.clock)
    assert states() == [(1, "stored")] * FAN_IN
    assert "is not possible" in caplog.text


def test_a_key_that_was_erased_meanwhile_stores_nothing(collecting):
    partials = flush_several(collecting, 2)
    window, merge = collecting.window(FIRST), merge_of(partials)
    sealed = merging._sealed(window, merge, collecting.clock.now().date())
    partial_keys().erase(sealed.key.name)
    with pytest.raises(MergeLost):
        merging._commit(window, merge, sealed, clock=collecting.clock)
    # The next attempt makes a new one.
    merge_once(window=window, merge=merge, clock=collecting.clock)
    assert (sum_of_stored(collecting).sums == collecting.truth[FIRST]).all()


@pytest.mark.parametrize("step", ["fold", "seal_partial", "_locked_inputs", "move", "record"])
def test_a_worker_killed_at_any_step_leaves_what_was_there(collecting, step):
    partials = flush_several(collecting, 3)
    window, merge = collecting.window(FIRST), merge_of(partials)
    share_no_connection()
    if not (child := os.fork()):
        setattr(merging, step, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        merge_once(window=window, merge=merge, clock=collecting.clock)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert states() == [(1, "stored")] * 3
    eventually(lambda: merge_once(window=window, merge=merge, clock=collecting.clock))
    assert states() == [(1, "merged")] * 3 + [(2, "stored")]
    assert (sum_of_stored(collecting).sums == collecting.truth[FIRST]).all()
    assert verify_log(whole=True).problem == ""


def share_no_connection():
    """Before a fork: parent and child each open their own."""
    connections.close_all()
    if connections["default"].vendor == "postgresql":
        connections["default"].close_pool()
