"""The collector: whatever is left of a closing window, however small, with its partials."""

import pytest

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.errors import Problem
from aggregation.sessions.collector import Collector
from tests.aggregation.sessions.examples import CONFIG, WEEK, Room, receipts_of

ID = "ee" * 16


def small_state(devices: int) -> tuple[Room, list[str], bytes]:
    room = Room()
    ids = room.fill(WEEK, devices, cell=5)
    (small,) = room.session.complete(open_windows=[WEEK], handing_over=[WEEK]).small
    return room, ids, small.state


def stored(devices: int) -> GroupBySum:
    room = Room()
    room.fill(WEEK, devices, cell=5)
    (big,) = room.session.complete(open_windows=[WEEK]).big
    return GroupBySum.parse(big.state, Params.of(CONFIG).without_threshold())


def test_it_works() -> None:
    collector = Collector(id=ID, config=CONFIG)
    handed = [small_state(1), small_state(2)]
    for room, _, state in handed:
        collector.take_over(state, from_session=room.id)
    whole = collector.finish(stored(4))
    assert whole.receipts == {room.id: receipts_of(ids) for room, ids, _ in handed}
    report = whole.core.report()
    assert (report.contributions, report.sums[5].tolist()) == (7, [7, 0])


def test_a_window_of_one_device_is_collected_like_any_other() -> None:
    """It gets its noise in the same memory; being small is no reason to leave it out."""
    collector = Collector(id=ID, config=CONFIG)
    room, _, state = small_state(1)
    collector.take_over(state, from_session=room.id)
    empty = GroupBySum(Params.of(CONFIG).without_threshold())
    assert collector.finish(empty).core.report().contributions == 1


def test_no_update_was_sent_to_a_collector() -> None:
    room, _, state = small_state(1)
    forged = state.replace(room.id.encode(), ID.encode())
    assert forged != state
    with pytest.raises(Problem, match="counted here"):
        Collector(id=ID, config=CONFIG).take_over(forged, from_session=room.id)


def test_nothing_is_collected_twice() -> None:
    collector = Collector(id=ID, config=CONFIG)
    room, _, state = small_state(2)
    collector.take_over(state, from_session=room.id)
    with pytest.raises(Problem, match="counted here"):
        collector.take_over(state, from_session=room.id)
    with pytest.raises(Problem, match="cannot hand over to itself"):
        collector.take_over(state, from_session=ID)
    collector.finish(stored(3))
    for again in (
        lambda: collector.finish(stored(3)),
        lambda: collector.take_over(state, from_session=room.id),
    ):
        with pytest.raises(Problem, match="has finished"):
            again()
