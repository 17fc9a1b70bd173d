"""Bytes of strangers: each is counted by its reason, and none raises, whatever they are."""

import struct
from collections.abc import Callable

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.protocol.anonymization import GRID
from aggregation.protocol.refusal import Reason
from tests.aggregation.sessions.examples import LATER, NEXT, WEEK, Room, packed

ROWS, METRICS = 8, 2
FILLER = 2**32 - 1


def raw(
    cells: list[int],
    values: list[int],
    *,
    windows: list[str] | None = None,
    version: int = 1,
    **more: object,
) -> bytes:
    """An update written by hand, with filler where nothing is said."""
    cells = cells + [FILLER] * (ROWS - len(cells))
    values = values + [0] * (ROWS * METRICS - len(values))
    windows = [WEEK.id] if windows is None else windows
    bodies = [struct.pack(f"<{len(cells)}I", *cells)] * len(windows)
    numbers = [struct.pack(f"<{len(values)}q", *values)] * len(windows)
    document = {"version": version, "windows": windows, "cells": bodies, "values": numbers}
    return ormsgpack.packb({**document, **more})


BAD: dict[str, tuple[bytes, Reason]] = {
    "nothing": (b"", Reason.WRONG_LENGTH),
    "one byte more": (raw([1], [1, 1]) + b"\0", Reason.WRONG_LENGTH),
    "one byte less": (raw([1], [1, 1])[:-1], Reason.WRONG_LENGTH),
    "one row too many": (raw(list(range(9)), [0] * 18), Reason.WRONG_LENGTH),
    "another field": (raw([1], [1, 1], more=1), Reason.WRONG_LENGTH),
    "zeros": (bytes(len(raw([], []))), Reason.NOT_AN_UPDATE),
    "another name": (raw([1], [1, 1]).replace(b"cells", b"sells"), Reason.NOT_AN_UPDATE),
    "version 2": (raw([1], [1, 1], version=2), Reason.WRONG_VERSION),
    "a window twice": (raw([1], [1, 1], windows=[WEEK.id, WEEK.id]), Reason.WRONG_WINDOWS),
    "windows go back": (raw([1], [1, 1], windows=[NEXT.id, WEEK.id]), Reason.WRONG_WINDOWS),
    "no Monday": (raw([1], [1, 1], windows=["2026-11-10"]), Reason.WRONG_WINDOWS),
    "no date": (raw([1], [1, 1], windows=["2026-02-30"]), Reason.WRONG_WINDOWS),
    "no windows": (raw([1], [1, 1], windows=[]), Reason.WRONG_LENGTH),
    "never open": (raw([1], [1, 1], windows=[LATER.id]), Reason.NEVER_OPEN),
    "a value beside filler": (raw([1], [1, 1, 5]), Reason.BAD_FILLER),
    "a row after filler": (raw([1, FILLER, 2], [1, 1, 0, 0, 1, 1]), Reason.BAD_FILLER),
    "ranks go back": (raw([4, 3], [1, 1, 1, 1]), Reason.UNSORTED_RANKS),
    "same rank twice": (raw([4, 4], [1, 1, 1, 1]), Reason.UNSORTED_RANKS),
    "outside the domain": (raw([324], [1, 1]), Reason.OUTSIDE_DOMAIN),
    "last rank there is": (raw([FILLER - 1], [1, 1]), Reason.OUTSIDE_DOMAIN),
    "above the bound": (raw([1], [GRID + 1, 0]), Reason.VALUE_BEYOND_BOUND),
    "below the bound": (raw([1], [0, -GRID - 1]), Reason.VALUE_BEYOND_BOUND),
    "smallest int64": (raw([1], [-(2**63), 0]), Reason.VALUE_BEYOND_BOUND),
    "a sum that wraps": (raw([1], [2**62, 2**62]), Reason.VALUE_BEYOND_BOUND),
    "sum beyond the bound": (raw([1], [GRID, -1]), Reason.SUM_BEYOND_BOUND),
    "sum over two rows": (raw([1, 2], [GRID // 2, 0, GRID // 2, 1]), Reason.SUM_BEYOND_BOUND),
}


@pytest.mark.parametrize("name", BAD)
def test_it_is_refused_by_its_reason_and_changes_nothing(name: str) -> None:
    plain, reason = BAD[name]
    room = Room()
    room.fill(WEEK, 3)
    taken = room.session.take([room.sealed(plain)])
    assert (taken.accepted, taken.counts) == (0, {reason: 1})
    assert room.session.contributions(WEEK) == 3


def test_the_hand_written_update_is_good_where_nothing_is_wrong_with_it() -> None:
    """So that the cases above fail for what they change and nothing else."""
    room = Room()
    assert raw([1, 2], [1, 2, 3, 4]) == packed({WEEK: {1: [1, 2], 2: [3, 4]}})
    good = [raw([], []), raw([323], [GRID, 0]), raw([0], [-GRID, 0], windows=[WEEK.id, NEXT.id])]
    assert room.session.take([room.sealed(plain) for plain in good]).accepted == 3


@pytest.mark.parametrize("window", [0, 1])
def test_one_part_with_bad_filler_refuses_both(window: int) -> None:
    """Seen when the bytes are unpacked, before any core checks them."""
    plain = bytearray(packed({WEEK: {1: [3, 3]}, NEXT: {2: [4, 4]}}))
    values = ROWS * METRICS * 8
    # Each window's values end with filler, and the bytes of the last one end the update.
    last = len(plain) - 1 if window else len(plain) - 1 - values - len(b"\xc4\x80")
    assert plain[last] == 0
    plain[last] = 1
    room = Room()
    taken = room.session.take([room.sealed(bytes(plain))])
    assert (taken.accepted, taken.counts) == (0, {Reason.BAD_FILLER: 1})
    assert room.session.windows_held == ()


def test_counts_are_exact_among_many_good_and_bad_ones() -> None:
    room = Room()
    good = [room.update({WEEK: {n: [1, 1]}}) for n in range(30)]
    bad = [room.sealed(plain) for plain, _ in BAD.values()]
    batch = [*bad, *good, *bad, *good[:7]]
    taken = room.session.take(batch[::2] + batch[1::2])
    expected: dict[Reason, int] = {}
    for _, reason in BAD.values():
        expected[reason] = expected.get(reason, 0) + 1
    # A second copy of what was opened already, good or bad.
    assert taken.counts == {**expected, Reason.DUPLICATE: len(bad) + 7}
    assert (taken.accepted, room.session.contributions(WEEK)) == (30, 30)
    assert room.session.counts == taken.counts


Misuse = Callable[[Room, Room], tuple[str, bytes]]
MISUSES: dict[str, Misuse] = {
    "sealed to another session": lambda _, other: other.update({WEEK: {}}),
    "another update's id": lambda room, _: ("00" * 8, room.update({WEEK: {}})[1]),
    "another task": lambda room, _: _resealed(room, client_task="ff" * 32),
    "another session's id": lambda room, _: _resealed(room, session="ff" * 16),
    "not sealed": lambda _, __: ("00" * 8, packed({WEEK: {}})),
    "too short for a seal": lambda _, __: ("00" * 8, b"x" * 31),
    "a low-order point": lambda _, __: ("00" * 8, bytes(600)),
}


def _resealed(room: Room, **changes: str) -> tuple[str, bytes]:
    from aggregation.protocol.sealing import seal

    named = {"client_task": room.config.client_task, "session": room.id, "update": "00" * 8}
    plain = packed({WEEK: {}})
    return "00" * 8, seal(plain, public=room.keys.public, **{**named, **changes})


@pytest.mark.parametrize("name", MISUSES)
def test_what_was_not_sealed_for_this_session_task_and_id_does_not_open(name: str) -> None:
    room = Room()
    taken = room.session.take([MISUSES[name](room, Room())])
    assert (taken.accepted, taken.counts) == (0, {Reason.CANNOT_OPEN: 1})


def test_every_byte_of_a_sealed_update_is_under_the_seal() -> None:
    room = Room()
    update, sealed = room.update({WEEK: {1: [1, 1]}})
    flipped = [
        (update, sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :])
        for at in range(0, len(sealed), 7)
    ]
    taken = room.session.take(flipped)
    assert taken.accepted == 0
    # The highest bit of an X25519 key is not part of it; we flip the lowest.
    assert taken.counts == {Reason.CANNOT_OPEN: len(flipped)}
    assert room.session.take([(update, sealed)]).accepted == 1


ROOM = Room()
length = len(packed({WEEK: {}}))
plains = st.one_of(
    st.binary(max_size=900),
    st.binary(min_size=length, max_size=length),
    st.builds(
        lambda at, byte: packed({WEEK: {1: [1, 1]}})[:at] + byte + packed({WEEK: {}})[at + 1 :],
        st.integers(0, length - 1),
        st.binary(min_size=1, max_size=1),
    ),
)
ids = st.one_of(st.none(), st.text(max_size=20), st.sampled_from(["0" * 16, "F" * 16]))
outer = st.tuples(st.text(max_size=20), st.binary(max_size=700))


@given(st.lists(st.one_of(outer, st.tuples(ids, plains)), max_size=6))
def test_no_bytes_and_no_id_make_it_raise(drawn: list[tuple[str | None, bytes]]) -> None:
    batch = []
    for update, body in drawn:
        sealable = update is None or (len(update) == 16 and update == "0" * 16)
        batch.append(ROOM.sealed(body, update) if sealable else (update, body))
    taken = ROOM.session.take(batch)  # type: ignore[arg-type]
    refused = sum(taken.counts.values())
    assert taken.accepted + refused == len(batch)
