"""Nothing of what a session holds is printed, raised, pickled or copied."""

import copy
import pickle
import traceback

import msgspec
import pytest

from aggregation.errors import Problem
from aggregation.protocol.refusal import BadUpdate
from aggregation.sessions.collector import Collector
from tests.aggregation.sessions.examples import CONFIG, NEXT, WEEK, Room

# Shows up in decimal, in hex, or as its bytes if anything of an update is printed.
MARK = 777_767
FORMS = [str(MARK), f"{MARK:x}", MARK.to_bytes(8, "little").hex(), repr(MARK.to_bytes(3, "little"))]


def marked_room() -> Room:
    room = Room()
    room.session.take([room.update({WEEK: {7: [MARK, 1]}}) for _ in range(3)])
    room.session.take([room.update({NEXT: {7: [MARK, 1]}})])
    return room


def things() -> dict[str, object]:
    room, other = marked_room(), marked_room()
    completion = room.session.complete(open_windows=[WEEK, NEXT], handing_over=[NEXT])
    collector = Collector(id="ee" * 16, config=CONFIG)
    collector.take_over(completion.small[0].state, from_session=room.id)
    return {
        "session": other.session,
        "intake": other.session._way_in,
        "held": other.session._held[WEEK],
        "receipts": other.session._held[WEEK]._receipts,
        "keys": other.keys,
        "taken": other.session.take([other.update({WEEK: {7: [MARK, 1]}})]),
        "completion": completion,
        "big": completion.big[0],
        "small": completion.small[0],
        "collector": collector,
    }


@pytest.mark.parametrize("name", things())
def test_it_prints_nothing(name: str) -> None:
    thing = things()[name]
    for shown in (repr(thing), str(thing), f"{thing}", repr([thing]), repr({name: thing})):
        assert "withheld" in shown
        assert not any(form in shown for form in FORMS)
        assert len(shown) < 120


@pytest.mark.parametrize("name", things())
def test_it_is_neither_pickled_nor_copied(name: str) -> None:
    thing = things()[name]
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            way(thing)


def test_exceptions_carry_nothing() -> None:
    """Not in their text, nor in one they came from: a traceback prints both."""
    room = marked_room()
    small = marked_room().session.complete(open_windows=[NEXT], handing_over=[NEXT]).small[0]
    state = small.state.replace(b"version\x01", b"version\x02")
    document = msgspec.msgpack.decode(small.state)
    spoiled = msgspec.msgpack.encode({**document, "receipts": {"somebody": b"12345678"}})
    tries = [
        lambda: room.session.complete(open_windows=[WEEK, NEXT]),
        lambda: room.session.take_over(state, from_session="ab" * 16, window=NEXT),
        lambda: room.session.take_over(spoiled, from_session="ab" * 16, window=NEXT),
        lambda: room.session.take_over(small.state[:-3], from_session="ab" * 16, window=NEXT),
        lambda: room.keys.open(b"?" * 90, client_task="c1" * 32, session=room.id, update="00" * 8),
    ]
    for one in tries:
        with pytest.raises((Problem, BadUpdate)) as caught:
            one()
        error: BaseException | None = caught.value
        assert error is not None
        assert error.__cause__ is None
        assert error.__suppress_context__ or error.__context__ is None
        text = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
        assert not any(form in text for form in FORMS)
        assert "12345678" not in text
