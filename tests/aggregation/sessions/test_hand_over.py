"""Hand-overs: a small sum goes on in another memory, with the receipts of all who are in it."""

from itertools import pairwise

import msgspec
import pytest

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.errors import Problem
from aggregation.protocol.refusal import BadUpdate, Reason
from aggregation.protocol.sealing import seal_state
from aggregation.protocol.windows import Window
from aggregation.sessions.completion import Small
from aggregation.sessions.held import Held
from tests.aggregation.sessions.examples import CONFIG, NEXT, WEEK, Room, config, receipts_of


def handed_over(room: Room, *windows: Window) -> tuple[Small, ...]:
    return room.session.complete(open_windows=windows, handing_over=windows).small


def passed_on(small: Small, giver: Room, taker: Room) -> None:
    """As it happens: sealed to the successor, opened there, taken over."""
    between = {"from_session": giver.id, "to_session": taker.id, "window_id": small.window.id}
    sealed = seal_state(small.state, public=taker.keys.public, **between)
    state = taker.keys.open_state(sealed, **between)
    taker.session.take_over(state, from_session=giver.id, window=small.window)


def test_it_works() -> None:
    first, second = Room(), Room()
    old, new = first.fill(WEEK, 2, cell=1), second.fill(WEEK, 1, cell=1)
    (small,) = handed_over(first, WEEK)
    passed_on(small, first, second)
    assert second.session.contributions(WEEK) == 3
    (big,) = second.session.complete(open_windows=[WEEK]).big
    assert big.receipts == {first.id: receipts_of(old), second.id: receipts_of(new)}
    report = GroupBySum.parse(big.state, Params.of(CONFIG)).report()
    assert report.contributions == 3
    assert report.sums[1].tolist() == [3, 0]


def test_a_chain_of_two_keeps_the_receipts_of_all() -> None:
    rooms = [Room(config=config(min_contributions=6)) for _ in range(3)]
    ids = [room.fill(WEEK, 2, cell=number) for number, room in enumerate(rooms)]
    for giver, taker in pairwise(rooms):
        (small,) = handed_over(giver, WEEK)
        passed_on(small, giver, taker)
    (big,) = rooms[-1].session.complete(open_windows=[WEEK]).big
    assert big.receipts == {room.id: receipts_of(own) for room, own in zip(rooms, ids, strict=True)}
    report = GroupBySum.parse(big.state, Params.of(CONFIG).without_threshold()).report()
    assert report.sums[:4, 0].tolist() == [2, 2, 2, 0]


def test_windows_are_handed_over_one_by_one() -> None:
    first, week, following = Room(), Room(), Room()
    both = first.update({WEEK: {1: [1, 0]}, NEXT: {1: [5, 0]}})
    first.session.take([both])
    for small, taker in zip(handed_over(first, WEEK, NEXT), (week, following), strict=True):
        passed_on(small, first, taker)
    assert (week.session.windows_held, following.session.windows_held) == ((WEEK,), (NEXT,))
    (small,) = handed_over(following, NEXT)
    assert small.receipts == {first.id: receipts_of([both[0]])}


def test_a_state_that_comes_twice_is_refused_and_changes_nothing() -> None:
    first, second = Room(), Room()
    first.fill(WEEK, 2)
    (small,) = handed_over(first, WEEK)
    passed_on(small, first, second)
    with pytest.raises(Problem, match="counted here"):
        passed_on(small, first, second)
    assert second.session.contributions(WEEK) == 2
    second.fill(WEEK, 1)
    (big,) = second.session.complete(open_windows=[WEEK]).big
    assert len(big.receipts[first.id]) == 2 * 8


def test_two_ways_to_the_same_update_are_refused() -> None:
    """A state copied on its way arrives once through each of two sessions."""
    first, left, right, last = Room(), Room(), Room(), Room()
    first.fill(WEEK, 1)
    (small,) = handed_over(first, WEEK)
    for between in (left, right):
        passed_on(small, first, between)
    passed_on(handed_over(left, WEEK)[0], left, last)
    with pytest.raises(Problem, match="counted here"):
        passed_on(handed_over(right, WEEK)[0], right, last)
    assert last.session.contributions(WEEK) == 1


def test_a_session_takes_nothing_from_itself_nor_updates_that_were_sent_to_it() -> None:
    room, other = Room(), Room()
    room.fill(WEEK, 1)
    (small,) = handed_over(room, WEEK)
    passed_on(small, room, other)
    (back,) = handed_over(other, WEEK)
    room.session = type(room.session)(
        id=room.id, config=CONFIG, keys=room.keys, windows=[WEEK, NEXT]
    )
    with pytest.raises(Problem, match="cannot hand over to itself"):
        passed_on(small, room, room)
    with pytest.raises(Problem, match="counted here"):
        passed_on(back, other, room)
    assert room.session.windows_held == ()


def test_a_state_is_for_one_successor_and_one_window() -> None:
    first, second, third = Room(), Room(), Room()
    first.fill(WEEK, 1)
    (small,) = handed_over(first, WEEK)
    between = {"from_session": first.id, "to_session": second.id, "window_id": WEEK.id}
    sealed = seal_state(small.state, public=second.keys.public, **between)
    for keys, other in (
        (third.keys, {}),
        (second.keys, {"from_session": third.id}),
        (second.keys, {"to_session": third.id}),
        (second.keys, {"window_id": NEXT.id}),
    ):
        with pytest.raises(BadUpdate):
            keys.open_state(sealed, **{**between, **other})


def test_a_successor_goes_on_deduplicating_its_own() -> None:
    first, second = Room(), Room()
    first.fill(WEEK, 1)
    update = second.update({WEEK: {1: [1, 0]}})
    second.session.take([update])
    passed_on(handed_over(first, WEEK)[0], first, second)
    assert second.session.take([update]).accepted == 0
    assert second.session.contributions(WEEK) == 2


def broken_states() -> dict[str, bytes]:
    room = Room()
    room.fill(WEEK, 2)
    state = handed_over(room, WEEK)[0].state
    document = msgspec.msgpack.decode(state)
    ids = document["receipts"][room.id]
    other_task = Room(config=config(cells=12))
    other_task.fill(WEEK, 2)
    changes = {
        "another version": {"version": 2},
        "a receipt less": {"receipts": {room.id: ids[:8]}},
        "a receipt more": {"receipts": {room.id: ids, "ab" * 16: b"12345678"}},
        "a receipt twice": {"receipts": {room.id: ids[:8] * 2}},
        "receipts not in order": {"receipts": {room.id: ids[8:] + ids[:8]}},
        "half a receipt": {"receipts": {room.id: ids + b"1234"}},
        "no session's id": {"receipts": {"somebody": ids}},
        "another sum": {"core": b"core"},
        "one more field": {"more": 1},
    }
    made = {
        name: msgspec.msgpack.encode({**document, **change}) for name, change in changes.items()
    }
    other = handed_over(other_task, WEEK)[0].state
    return {"nothing": b"", "cut short": state[:-1], "another task": other, **made}


@pytest.mark.parametrize("name", broken_states())
def test_whatever_is_not_a_state_is_refused(name: str) -> None:
    room = Room()
    room.fill(WEEK, 1)
    with pytest.raises(Problem, match=r"not a state|do not belong together"):
        room.session.take_over(broken_states()[name], from_session="ab" * 16, window=WEEK)
    assert room.session.contributions(WEEK) == 1
    room.fill(WEEK, 2)
    assert len(room.session.complete(open_windows=[WEEK]).big) == 1


def test_an_empty_state_holds_nothing() -> None:
    """Else a window without devices would have to wait for a successor of its own."""
    room = Room()
    state, _ = Held(Params.of(CONFIG)).hand_over()
    room.session.take_over(state, from_session="ab" * 16, window=WEEK)
    assert room.session.windows_held == ()
    assert room.session.complete(open_windows=[WEEK]).small == ()


def test_a_window_that_is_not_open_here_is_taken_over_and_ends_the_session() -> None:
    first, second = Room(), Room(NEXT)
    first.fill(WEEK, 1)
    passed_on(handed_over(first, WEEK)[0], first, second)
    assert second.session.windows_closed == (WEEK,)
    assert second.session.take([second.update({WEEK: {}})]).counts == {Reason.NEVER_OPEN: 1}
