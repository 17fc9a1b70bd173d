"""Sealing: one session can open it, for one task and one update id, and nothing else can."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from aggregation.protocol.part import Part
from aggregation.protocol.sealing import (
    MAX_SEALED,
    OVERHEAD,
    SessionKeys,
    max_sealed,
    open_with,
    seal,
    seal_state,
    sealed_length,
)
from aggregation.protocol.update import BadUpdate, Reason, Shape, pack
from aggregation.protocol.windows import Unit
from tests.aggregation.protocol.updates import SHAPE, WEEKS, part

IDS = {"client_task": "ab" * 32, "session": "cd" * 16, "update": "ef" * 8}
STATE = {"from_session": "12" * 16, "to_session": "34" * 16, "window_id": "2026-11-09"}
OTHERS = {
    **{"client_task": "ba" * 32, "session": "dc" * 16, "update": "fe" * 8},
    **{"from_session": "34" * 16, "to_session": "12" * 16, "window_id": "2026-11-02"},
}
KEYS = SessionKeys.fresh()
SEALED = seal(b"an update", public=KEYS.public, **IDS)
HANDED_OVER = seal_state(b"a state", public=KEYS.public, **STATE)


def test_it_works() -> None:
    assert KEYS.open(SEALED, **IDS) == b"an update"
    assert KEYS.open_state(HANDED_OVER, **STATE) == b"a state"


def test_sealing_twice_gives_other_bytes() -> None:
    assert seal(b"an update", public=KEYS.public, **IDS) != SEALED


@pytest.mark.parametrize("name", IDS)
def test_an_update_moved_elsewhere_does_not_open(name: str) -> None:
    _refused(SEALED, **{**IDS, name: OTHERS[name]})


@pytest.mark.parametrize("name", STATE)
def test_a_state_moved_elsewhere_does_not_open(name: str) -> None:
    with pytest.raises(BadUpdate) as refused:
        KEYS.open_state(HANDED_OVER, **{**STATE, name: OTHERS[name]})
    assert refused.value.reason is Reason.CANNOT_OPEN


def test_an_update_is_no_state_and_a_state_no_update() -> None:
    """Even where the bound bytes would be the same but for their first line."""
    _refused(HANDED_OVER, **IDS)
    with pytest.raises(BadUpdate):
        KEYS.open_state(SEALED, **STATE)


def test_many_are_opened_as_one_is() -> None:
    named = {"client_task": IDS["client_task"], "session": IDS["session"]}
    own, other = bytes.fromhex(IDS["update"]), bytes.fromhex(OTHERS["update"])
    batch = [(own, SEALED), (other, SEALED), (own, SEALED[:-1]), (own, b""), (b"", SEALED)]
    expected = [b"an update", None, None, None, None]
    assert KEYS.opener(**named)(batch) == expected
    assert KEYS.opener(**named, helper=open_with)(batch) == expected
    for name in named:
        elsewhere = KEYS.opener(**{**named, name: OTHERS[name]})
        assert elsewhere([(own, SEALED)]) == [None]
    assert SessionKeys.fresh().opener(**named)([(own, SEALED)]) == [None]


def test_another_session_cannot_open_it() -> None:
    with pytest.raises(BadUpdate):
        SessionKeys.fresh().open(SEALED, **IDS)


@pytest.mark.parametrize("place", range(len(SEALED)))
def test_a_changed_byte_does_not_open(place: int) -> None:
    changed = bytearray(SEALED)
    changed[place] ^= 0x01
    _refused(bytes(changed), **IDS)


@given(st.binary(max_size=200))
def test_noise_does_not_open(raw: bytes) -> None:
    _refused(raw, **IDS)


@pytest.mark.parametrize("point", [bytes(32), b"\x01" + bytes(31)])
def test_a_key_of_small_order_does_not_open(point: bytes) -> None:
    """Such a point would make the shared secret known to everyone."""
    _refused(point + SEALED[32:], **IDS)


@pytest.mark.parametrize("key", [b"", bytes(31), bytes(33), bytes(32)])
def test_nothing_is_sealed_to_what_is_no_key(key: bytes) -> None:
    with pytest.raises(Problem, match="not a public key"):
        seal(b"an update", public=key, **IDS)


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("spelling", ["", "zz", "AB" * 32, " " * 64, "ab" * 33])
def test_ids_have_one_spelling(name: str, spelling: str) -> None:
    with pytest.raises(Problem, match="is not the id of"):
        KEYS.open(SEALED, **{**IDS, name: spelling})


def test_sealing_adds_the_same_to_every_update() -> None:
    for sent in (Part.zero(2), part([1, 2], [[5, 6], [7, 8]])):
        sealed = seal(pack({WEEKS[0]: sent}, SHAPE), public=KEYS.public, **IDS)
        assert len(sealed) == sealed_length(SHAPE, 1)
    assert len(SEALED) == len(b"an update") + OVERHEAD


@pytest.mark.parametrize("rows", [1, 63, 64, 256, 1024])
def test_the_longest_upload_of_a_task_fits(rows: int) -> None:
    shape = Shape(Unit.HOUR, rows, 3)
    assert sealed_length(shape, 1) <= max_sealed(shape) <= MAX_SEALED == 65_536


def test_keys_are_not_shown_copied_or_pickled() -> None:
    assert repr(KEYS) == "SessionKeys(withheld)"
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not copied or pickled"):
            copied(KEYS)


def _refused(sealed: bytes, **ids: str) -> None:
    with pytest.raises(BadUpdate) as refused:
        KEYS.open(sealed, **ids)
    assert refused.value.reason is Reason.CANNOT_OPEN
    assert refused.value.__cause__ is None
