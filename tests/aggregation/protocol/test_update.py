"""Update bytes: one length, one spelling, and a reason for everything else."""

from itertools import product

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from aggregation.protocol.part import Part
from aggregation.protocol.update import (
    FILLER,
    MAX_LENGTH,
    BadUpdate,
    Reason,
    Shape,
    length,
    most_windows,
    pack,
    unpack,
)
from aggregation.protocol.windows import Unit, Window
from tests.aggregation.protocol.updates import (
    SHAPE,
    WEEKS,
    part,
    parts,
    read_slowly,
    same,
    shapes,
    windows_of,
)

NO_ROW = FILLER.to_bytes(4, "little")
ONE = part([3, 7], [[1, -2], [0, 5]])
GOOD = pack({WEEKS[0]: ONE, WEEKS[1]: Part.zero(2)}, SHAPE)


def written(**changes: object) -> bytes:
    """The good update as a map, with some fields replaced, and written again."""
    return ormsgpack.packb({**ormsgpack.unpackb(GOOD), **changes})


def cells(*ranks: int) -> bytes:
    return b"".join(rank.to_bytes(4, "little") for rank in ranks).ljust(32, b"\xff")


def values(*numbers: int) -> bytes:
    return b"".join(n.to_bytes(8, "little", signed=True) for n in numbers).ljust(128, b"\0")


ZERO = values()
BAD = {
    "nothing": (b"", Reason.WRONG_LENGTH),
    "one byte more": (GOOD + b"\0", Reason.WRONG_LENGTH),
    "one byte less": (GOOD[:-1], Reason.WRONG_LENGTH),
    "no windows": (written(windows=[], cells=[], values=[]), Reason.WRONG_LENGTH),
    "17 windows": (
        written(
            windows=[w.id for w in windows_of(Unit.WEEK, 17)],
            cells=[cells()] * 17,
            values=[ZERO] * 17,
        ),
        Reason.WRONG_LENGTH,
    ),
    "more windows than parts": (written(windows=["2026-11-02"] * 3), Reason.WRONG_LENGTH),
    "short cells": (written(cells=[cells()[4:], cells()]), Reason.WRONG_LENGTH),
    "long values": (written(values=[ZERO + bytes(8), ZERO]), Reason.WRONG_LENGTH),
    "noise": (bytes(range(256)) * 2, Reason.WRONG_LENGTH),
    "zeros of the right length": (bytes(len(GOOD)), Reason.NOT_AN_UPDATE),
    "keys in another order": (
        ormsgpack.packb(dict(reversed(ormsgpack.unpackb(GOOD).items()))),
        Reason.NOT_AN_UPDATE,
    ),
    "another key": (GOOD.replace(b"values", b"Values"), Reason.NOT_AN_UPDATE),
    "version 2": (written(version=2), Reason.WRONG_VERSION),
    "version 0": (written(version=0), Reason.WRONG_VERSION),
    "version true": (written(version=True), Reason.WRONG_VERSION),
    "windows turned round": (written(windows=["2026-11-09", "2026-11-02"]), Reason.WRONG_WINDOWS),
    "one window twice": (written(windows=["2026-11-02"] * 2), Reason.WRONG_WINDOWS),
    "a Tuesday": (written(windows=["2026-11-03", "2026-11-09"]), Reason.WRONG_WINDOWS),
    "no date": (written(windows=["2026-11-02", "2026-99-99"]), Reason.WRONG_WINDOWS),
    "another spelling": (written(windows=[" 2026-11-2", "2026-11-09"]), Reason.WRONG_WINDOWS),
    "no text": (GOOD.replace(b"2026-11-02", b"2026-11-\xff\x00"), Reason.WRONG_WINDOWS),
    "the end of time": (written(windows=["2026-11-02", "9999-12-27"]), Reason.WRONG_WINDOWS),
    "a row after filler": (
        written(cells=[cells(3, FILLER, 7), cells()], values=[ZERO, ZERO]),
        Reason.BAD_FILLER,
    ),
    "a value beside filler": (
        written(values=[values(1, -2, 0, 5, 0, 1), ZERO]),
        Reason.BAD_FILLER,
    ),
    "a value in the zero update": (
        written(values=[values(1, -2, 0, 5), ZERO[:-1] + b"\x80"]),
        Reason.BAD_FILLER,
    ),
    "one rank twice": (written(cells=[cells(3, 3), cells()]), Reason.UNSORTED_RANKS),
    "ranks turned round": (written(cells=[cells(7, 3), cells()]), Reason.UNSORTED_RANKS),
    "two faults, the first one counts": (
        written(cells=[cells(7, 3), cells()], windows=["2026-11-02"] * 2, version=3),
        Reason.WRONG_VERSION,
    ),
}


def test_it_works() -> None:
    windows, found = unpack(GOOD, SHAPE)
    assert windows == WEEKS[:2]
    assert same(found[0], ONE)
    assert same(found[1], Part.zero(2))


def test_the_bytes_are_as_documented() -> None:
    shape = Shape(Unit.DAY, 2, 1)
    raw = pack({Window.parse("2026-11-09", Unit.DAY): part([258], [[-2]], metrics=1)}, shape)
    assert raw == (
        b"\x84"
        b"\xa7version\x01"
        b"\xa7windows\x91\xaa2026-11-09"
        b"\xa5cells\x91\xc4\x08\x02\x01\x00\x00" + NO_ROW + b"\xa6values\x91\xc4\x10"
        b"\xfe\xff\xff\xff\xff\xff\xff\xff" + bytes(8)
    )


@given(st.data())
def test_all_updates_of_a_shape_with_as_many_windows_have_one_length(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    windows = windows_of(shape.unit, data.draw(st.integers(1, 3)))
    zero = pack({window: Part.zero(shape.metrics) for window in windows}, shape)
    full = pack({window: data.draw(parts(shape)) for window in windows}, shape)
    assert len(zero) == len(full) == length(shape, len(windows))


@given(st.data())
def test_what_is_packed_is_unpacked(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    sent = {
        window: data.draw(parts(shape))
        for window in windows_of(shape.unit, data.draw(st.integers(1, 16)))
    }
    windows, found = unpack(pack(sent, shape), shape)
    assert list(windows) == sorted(sent)
    assert all(same(got, sent[window]) for window, got in zip(windows, found, strict=True))


def test_a_full_update_is_unpacked() -> None:
    full = part(list(range(8)), [[rank, -rank] for rank in range(8)])
    assert same(unpack(pack({WEEKS[0]: full}, SHAPE), SHAPE)[1][0], full)


@given(st.data())
def test_windows_are_sorted_whatever_order_they_come_in(data: st.DataObject) -> None:
    order = data.draw(st.permutations(WEEKS))
    sent = {window: part([at], [[at, 0]]) for at, window in enumerate(WEEKS)}
    assert pack({w: sent[w] for w in order}, SHAPE) == pack(sent, SHAPE)


@pytest.mark.parametrize("name", BAD)
def test_it_refuses(name: str) -> None:
    raw, reason = BAD[name]
    with pytest.raises(BadUpdate) as refused:
        unpack(raw, SHAPE)
    assert refused.value.reason is reason
    assert read_slowly(raw, SHAPE) is None


@given(st.binary(max_size=400))
def test_noise_is_refused_and_nothing_else_happens(raw: bytes) -> None:
    with pytest.raises(BadUpdate):
        unpack(raw, SHAPE)


@given(st.data())
def test_a_second_reader_agrees_about_every_changed_update(data: st.DataObject) -> None:
    """Bytes are accepted iff a MessagePack library and plain Python accept them, as the same."""
    raw = bytearray(pack({w: data.draw(parts()) for w in WEEKS[:2]}, SHAPE))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    expected = read_slowly(bytes(raw), SHAPE)
    try:
        windows, found = unpack(bytes(raw), SHAPE)
    except BadUpdate:
        assert expected is None
    else:
        rows = [list(zip(p.ranks.tolist(), p.values.tolist(), strict=True)) for p in found]
        assert dict(zip((w.id for w in windows), rows, strict=True)) == expected
        assert pack(dict(zip(windows, found, strict=True)), SHAPE) == raw


def test_a_second_reader_agrees_about_every_single_byte() -> None:
    for place, change in product(range(len(GOOD)), (0x01, 0x80, 0xFF)):
        raw = bytearray(GOOD)
        raw[place] ^= change
        assert _is_refused(bytes(raw)) == (read_slowly(bytes(raw), SHAPE) is None), place


def _is_refused(raw: bytes) -> bool:
    try:
        unpack(raw, SHAPE)
    except BadUpdate:
        return True
    return False


def test_a_refusal_carries_no_contents() -> None:
    with pytest.raises(BadUpdate) as refused:
        unpack(written(windows=["2026-11-02", "canary-987"]), SHAPE)
    assert "canary" not in f"{refused.value!r} {refused.value} {refused.value.__context__}"


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({}, "has 1 to 16 windows, not 0"),
        ({w: Part.zero(2) for w in windows_of(Unit.WEEK, 17)}, "not 17"),
        ({Window.parse("2026-11-02", Unit.DAY): Part.zero(2)}, "is a day window"),
        ({WEEKS[0]: part(list(range(9)), [[1, 1]] * 9)}, "more than 8 × 2"),
        ({WEEKS[0]: Part.zero(3)}, "more than 8 × 2"),
        ({WEEKS[0]: part([4, 4], [[1, 1]] * 2)}, "not strictly increasing"),
        ({WEEKS[0]: part([FILLER], [[1, 1]])}, "not strictly increasing"),
    ],
)
def test_a_device_cannot_pack(sent: dict[Window, Part], sentence: str) -> None:
    with pytest.raises(Problem, match=sentence):
        pack(sent, SHAPE)


def test_a_large_shape_has_fewer_windows_in_one_update() -> None:
    shape = Shape(Unit.DAY, 1024, 3)
    most = most_windows(shape)
    assert 1 <= most < 16
    assert length(shape, most) <= MAX_LENGTH < length(shape, most + 1)
    days = windows_of(Unit.DAY, most + 1)
    assert len(pack({day: Part.zero(3) for day in days[:most]}, shape)) == length(shape, most)
    with pytest.raises(Problem, match=f"has 1 to {most} windows"):
        pack({day: Part.zero(3) for day in days}, shape)


@pytest.mark.parametrize("windows", [0, 17])
def test_there_is_no_length_of(windows: int) -> None:
    with pytest.raises(Problem, match=f"not {windows}"):
        length(SHAPE, windows)


@pytest.mark.parametrize(("rows", "metrics"), [(0, 1), (1, 0), (-1, 2)])
def test_there_is_no_shape_of(rows: int, metrics: int) -> None:
    with pytest.raises(Problem, match="No update has"):
        Shape(Unit.DAY, rows, metrics)
