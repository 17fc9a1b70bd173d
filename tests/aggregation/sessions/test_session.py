"""A session: each update once, whole or not at all, and everything leaves once."""

import pytest

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.errors import Problem
from aggregation.protocol.refusal import Reason
from aggregation.protocol.windows import Unit, Window
from aggregation.sessions.held import Held
from aggregation.sessions.session import Session
from tests.aggregation.sessions.examples import (
    CONFIG,
    LATER,
    NEXT,
    WEEK,
    Room,
    config,
    receipts_of,
)


def sums(state: bytes) -> dict[int, list[int]]:
    """Cells that are not zero, of a partial's state."""
    report = GroupBySum.parse(state, Params.of(CONFIG).without_threshold()).report()
    return {rank: row for rank, row in enumerate(report.sums.tolist()) if any(row)}


def test_it_works() -> None:
    room = Room()
    both = room.update({WEEK: {3: [1, 20]}, NEXT: {5: [2, 0], 7: [0, -4]}})
    ones = [room.update({WEEK: {3: [1, 1]}}), room.update({WEEK: {}})]
    taken = room.session.take([both, *ones])
    assert (taken.accepted, taken.counts) == (3, {})
    assert room.session.windows_held == (WEEK, NEXT)
    assert room.session.contributions(WEEK) == 3
    assert room.session.contributions(NEXT) == 1
    done = room.session.complete(open_windows=[WEEK, NEXT], handing_over=[NEXT])
    (big,), (small,) = done.big, done.small
    assert (big.window, small.window) == (WEEK, NEXT)
    assert sums(big.state) == {3: [2, 21]}
    assert big.receipts == {room.id: receipts_of([both[0], ones[0][0], ones[1][0]])}
    assert small.receipts == {room.id: receipts_of([both[0]])}
    assert (done.accepted, done.counts) == (3, {})


def test_the_same_update_counts_once_however_it_comes_again() -> None:
    room = Room()
    first = room.update({WEEK: {3: [1, 0]}})
    another = room.update({WEEK: {3: [7, 0]}}, first[0])
    taken = room.session.take([first, first, another])
    assert (taken.accepted, taken.counts) == (1, {Reason.DUPLICATE: 2})
    assert room.session.take([another, first]).counts == {Reason.DUPLICATE: 2}
    assert room.session.contributions(WEEK) == 1
    assert room.session.counts == {Reason.DUPLICATE: 4}


def test_two_ids_that_are_none_are_none_together() -> None:
    room = Room()
    one, two = (room.update({WEEK: {3: [1, 0]}}, update) for update in ("ab" * 8, "cd" * 8))
    shifted = [(one[0][:14], one[1]), (one[0][14:] + two[0], two[1])]
    taken = room.session.take(shifted)
    assert (taken.accepted, taken.counts) == (0, {Reason.CANNOT_OPEN: 2})


def test_an_id_has_one_spelling() -> None:
    """Capitals and spaces are read as the same bytes: they must not count a second time."""
    room = Room()
    update, sealed = room.update({WEEK: {3: [1, 0]}}, "00ab00cd00ef0012")
    spellings = [update.upper(), f" {update}", f"{update} ", "00 ab00cd00ef0012", "", "é" * 16]
    taken = room.session.take([(update, sealed), *((one, sealed) for one in spellings)])
    assert (taken.accepted, taken.counts) == (1, {Reason.CANNOT_OPEN: len(spellings)})


def test_garbage_under_an_id_does_not_spend_it() -> None:
    room = Room()
    update, sealed = room.update({WEEK: {3: [1, 0]}})
    spoiled = sealed[:-1] + bytes([sealed[-1] ^ 1])
    taken = room.session.take([(update, spoiled), (update, b""), (update, sealed)])
    assert (taken.accepted, taken.counts) == (1, {Reason.CANNOT_OPEN: 2})


def test_what_opened_and_was_refused_is_not_opened_again() -> None:
    room = Room()
    bad = room.update({WEEK: {400: [1, 0]}})
    better = room.update({WEEK: {4: [1, 0]}}, bad[0])
    counts = {Reason.OUTSIDE_DOMAIN: 1, Reason.DUPLICATE: 1}
    assert room.session.take([bad, better]).counts == counts
    assert room.session.take([better]).counts == {Reason.DUPLICATE: 1}


def test_one_bad_part_refuses_the_update_and_changes_no_sum() -> None:
    room = Room()
    room.fill(WEEK, 3)
    room.fill(NEXT, 3)
    bad = room.update({WEEK: {1: [5, 5]}, NEXT: {400: [1, 0]}})
    worse = room.update({WEEK: {1: [2**20, 1]}, NEXT: {1: [2**21, 0]}})
    good = room.update({WEEK: {2: [9, 9]}, NEXT: {2: [8, 8]}})
    taken = room.session.take([bad, good, worse])
    assert taken.accepted == 1
    assert taken.counts == {Reason.OUTSIDE_DOMAIN: 1, Reason.SUM_BEYOND_BOUND: 1}
    done = room.session.complete(open_windows=[WEEK, NEXT])
    first, second = done.big
    assert sums(first.state) == {0: [3, 0], 2: [9, 9]}
    assert sums(second.state) == {0: [3, 0], 2: [8, 8]}
    for big in done.big:
        assert len(big.receipts[room.id]) == 8 * 4
        assert bytes.fromhex(bad[0]) not in big.receipts[room.id]


def test_parts_of_closed_windows_are_dropped_and_counted_and_the_others_count() -> None:
    room = Room()
    room.session.set_open([NEXT])
    both = room.update({WEEK: {1: [1, 0]}, NEXT: {1: [1, 0]}})
    only = room.update({WEEK: {1: [1, 0]}})
    taken = room.session.take([both, only])
    assert (taken.accepted, taken.counts) == (1, {Reason.WINDOW_CLOSED: 2})
    assert room.session.windows_held == (NEXT,)


def test_a_bad_part_of_a_closed_window_refuses_the_update_all_the_same() -> None:
    room = Room()
    room.session.set_open([NEXT])
    taken = room.session.take([room.update({WEEK: {400: [1, 0]}, NEXT: {1: [1, 0]}})])
    assert (taken.accepted, taken.counts) == (0, {Reason.OUTSIDE_DOMAIN: 1})
    assert room.session.windows_held == ()


def test_a_window_that_was_never_open_refuses_the_update() -> None:
    room = Room(WEEK)
    both = {WEEK: {1: [1, 0]}, NEXT: {1: [1, 0]}}
    taken = room.session.take([room.update(both), room.update({LATER: {}})])
    assert (taken.accepted, taken.counts) == (0, {Reason.NEVER_OPEN: 2})
    room.session.set_open([WEEK, NEXT])
    assert room.session.take([room.update(both)]).accepted == 1


def test_what_was_summed_stays_when_its_window_closes_for_devices() -> None:
    """The release waits for it; only what comes later is dropped."""
    room = Room()
    room.fill(WEEK, 3)
    room.session.set_open([NEXT])
    assert room.session.windows_closed == (WEEK,)
    assert room.session.contributions(WEEK) == 3
    (big,) = room.session.complete(open_windows=[WEEK, NEXT]).big
    assert sums(big.state) == {0: [3, 0]}


def test_a_closed_window_does_not_open_again() -> None:
    room = Room()
    room.session.set_open([NEXT])
    room.session.set_open([WEEK, NEXT])
    assert room.session.take([room.update({WEEK: {}})]).counts == {Reason.WINDOW_CLOSED: 1}


def test_what_is_too_late_at_completion_is_dropped_and_counted() -> None:
    room = Room()
    room.fill(WEEK, 4)
    room.fill(NEXT, 3)
    done = room.session.complete(open_windows=[NEXT])
    assert [big.window for big in done.big] == [NEXT]
    assert done.small == ()
    assert done.counts == {Reason.WINDOW_CLOSED: 4}


def test_what_nobody_takes_any_more_is_dropped_once_it_has_closed() -> None:
    room = Room()
    room.fill(WEEK, 3)
    with pytest.raises(Problem, match="is open"):
        room.session.drop(WEEK)
    room.session.set_open([NEXT])
    room.session.drop(WEEK)
    assert room.session.windows_held == ()
    assert room.session.counts == {Reason.WINDOW_CLOSED: 3}
    room.session.drop(WEEK)
    assert room.session.complete(open_windows=[WEEK]).small == ()


def test_small_is_below_the_threshold_and_waits_for_a_successor() -> None:
    room = Room()
    room.fill(WEEK, 3)
    room.fill(NEXT, 2)
    assert room.session.windows_small == (NEXT,)
    with pytest.raises(Problem, match=f"Too few devices are in {NEXT.id} for a partial"):
        room.session.complete(open_windows=[WEEK, NEXT], handing_over=[WEEK])
    room.fill(NEXT, 1)
    assert room.session.windows_small == ()
    done = room.session.complete(open_windows=[WEEK, NEXT], handing_over=[WEEK, NEXT])
    assert [big.window for big in done.big] == [WEEK, NEXT]


def test_nothing_is_lost_by_a_refused_completion() -> None:
    room = Room()
    room.fill(WEEK, 3)
    room.fill(NEXT, 2)
    with pytest.raises(Problem):
        room.session.complete(open_windows=[WEEK, NEXT])
    done = room.session.complete(open_windows=[WEEK, NEXT], handing_over=[NEXT])
    assert sums(done.big[0].state) == {0: [3, 0]}
    assert [small.window for small in done.small] == [NEXT]


def test_completion_consumes() -> None:
    room = Room()
    room.fill(WEEK, 3)
    update = room.update({WEEK: {}})
    room.session.complete(open_windows=[WEEK])
    for again in (
        lambda: room.session.complete(open_windows=[WEEK]),
        lambda: room.session.take([update]),
        lambda: room.session.take_over(b"", from_session="ab" * 16, window=WEEK),
        lambda: room.session.set_open([WEEK]),
    ):
        with pytest.raises(Problem, match="This session is complete"):
            again()
    assert room.session.windows_held == ()
    assert room.session.accepted == 3


def test_an_empty_session_completes_with_nothing() -> None:
    done = Room().session.complete(open_windows=[WEEK, NEXT])
    assert (done.big, done.small, done.accepted) == ((), (), 0)


def test_it_is_full_by_one_window_or_by_all_updates() -> None:
    room = Room(config=config(max_contributions=3))
    assert not room.session.is_full()
    room.fill(WEEK, 1)
    room.fill(NEXT, 1)
    assert not room.session.is_full()
    room.session.take([room.update({WEEK: {400: [1, 0]}})])
    assert room.session.is_full()


def test_it_is_full_by_what_it_took_over() -> None:
    room, other = Room(config=config(max_contributions=3)), Room(config=config(min_contributions=9))
    other.fill(WEEK, 3)
    (small,) = other.session.complete(open_windows=[WEEK], handing_over=[WEEK]).small
    room.session.take_over(small.state, from_session=other.id, window=WEEK)
    assert room.session.is_full()


def test_a_sum_without_its_receipts_does_not_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an error between the two, such as a lack of memory."""
    room = Room()

    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("aggregation.sessions.receipts.Receipts.add", fails)
        with pytest.raises(MemoryError):
            room.session.take([room.update({WEEK: {1: [1, 1]}})])
    room.fill(WEEK, 3)
    with pytest.raises(Problem, match="do not belong together"):
        room.session.complete(open_windows=[WEEK], handing_over=[WEEK])


def test_it_refuses_windows_of_another_unit_and_ids_that_are_none() -> None:
    room, day = Room(), Window.parse("2026-11-09", Unit.DAY)
    with pytest.raises(Problem, match="is a day window; this task has weeks"):
        room.session.set_open([day])
    with pytest.raises(Problem, match="is a day window"):
        room.session.take_over(b"", from_session="ab" * 16, window=day)
    with pytest.raises(Problem, match="is not the id of a session"):
        Session(id="AB" * 16, config=CONFIG, keys=room.keys, windows=[WEEK])


def test_a_held_window_is_empty_until_something_counts() -> None:
    assert Held(Params.of(CONFIG)).contributions == 0
    room = Room()
    room.session.take([room.update({WEEK: {400: [1, 0]}})])
    assert room.session.windows_held == ()
    assert room.session.contributions(WEEK) == 0
