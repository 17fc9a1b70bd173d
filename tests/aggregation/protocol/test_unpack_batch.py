"""Many updates at once: the same verdicts and parts as one by one, sorted by window."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.core.checks import Params, check_batch
from aggregation.core.interface import Verdict
from aggregation.protocol import unpacking
from aggregation.protocol.part import Part
from aggregation.protocol.update import BadUpdate, Batch, Reason, length, pack, unpack, unpack_batch
from tests.aggregation.protocol.updates import SHAPE, WEEKS, part, parts, same

some_weeks = st.lists(st.sampled_from(WEEKS), min_size=1, unique=True)


@st.composite
def raws(draw: st.DrawFn) -> bytes:
    """An update, good or changed somewhere, or not one at all."""
    raw = bytearray(pack({w: draw(parts()) for w in draw(some_weeks)}, SHAPE))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        raw[draw(st.integers(0, len(raw) - 1))] = draw(st.integers(0, 255))
    return draw(st.sampled_from([bytes(raw), bytes(raw), bytes(raw), bytes(raw[:-1])]))


def test_it_works() -> None:
    first = pack({WEEKS[0]: part([1], [[1, 1]]), WEEKS[1]: part([2], [[2, 2]])}, SHAPE)
    second = pack({WEEKS[1]: part([3], [[3, 3]])}, SHAPE)
    batch = unpack_batch([first, b"", second], SHAPE)
    assert list(batch.windows) == [WEEKS[:2], (), WEEKS[1:2]]
    assert batch.refused == {1: Reason.WRONG_LENGTH}
    assert {w: list(u) for w, u in batch.updates.items()} == {WEEKS[0]: [0], WEEKS[1]: [0, 2]}
    assert same(batch.parts[WEEKS[1]][0], part([2], [[2, 2]]))
    assert same(batch.parts[WEEKS[1]][1], part([3], [[3, 3]]))


@given(st.lists(raws(), max_size=8), st.integers(1, 4))
def test_it_is_the_same_as_one_by_one(given_raws: list[bytes], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unpacking, "_CHUNK_BYTES", chunk * 500)
        batch = unpack_batch(given_raws, SHAPE)
    for number, raw in enumerate(given_raws):
        try:
            windows, found = unpack(raw, SHAPE)
        except BadUpdate as refused:
            reason = refused.reason
            assert (batch.refused[number], batch.windows[number]) == (reason, ())
        else:
            assert number not in batch.refused
            assert batch.windows[number] == windows
            assert all(same(_of(batch, number, w), p) for w, p in zip(windows, found, strict=True))
    counted = sum(len(parts) for parts in batch.parts.values())
    assert counted == sum(len(windows) for windows in batch.windows)


def _of(batch: Batch, number: int, window: object) -> Part:
    (place,) = np.flatnonzero(batch.updates[window] == number)  # type: ignore[index]
    return batch.parts[window][int(place)]  # type: ignore[index]


def test_a_window_that_was_never_open_refuses_the_whole_update() -> None:
    mixed = pack({w: part([1], [[1, 1]]) for w in (WEEKS[0], WEEKS[2])}, SHAPE)
    fine = pack({WEEKS[0]: Part.zero(2)}, SHAPE)
    batch = unpack_batch([mixed, fine], SHAPE, ever_open=WEEKS[:2])
    assert batch.refused == {0: Reason.NEVER_OPEN}
    assert len(batch.parts[WEEKS[0]]) == 1
    assert WEEKS[2] not in batch.parts


def test_zero_updates_are_parts_too() -> None:
    batch = unpack_batch([pack({WEEKS[0]: Part.zero(2)}, SHAPE)] * 3, SHAPE)
    assert len(batch.parts[WEEKS[0]]) == 3
    assert list(batch.updates[WEEKS[0]]) == [0, 1, 2]


def test_no_updates_are_an_empty_batch() -> None:
    batch = unpack_batch([], SHAPE)
    assert (list(batch.windows), batch.parts, batch.refused) == ([], {}, {})


def test_only_refused_updates_leave_no_parts() -> None:
    bad = pack({WEEKS[0]: Part.zero(2)}, SHAPE)[:-1] + b"\x01"
    batch = unpack_batch([bad] * 2, SHAPE)
    assert batch.refused == dict.fromkeys([0, 1], Reason.BAD_FILLER)
    assert batch.parts == {}


def test_more_updates_than_fit_into_one_chunk_keep_their_numbers() -> None:
    sent = [
        pack({WEEKS[at % 3]: part([at], [[at, 0]]), WEEKS[3]: Part.zero(2)}, SHAPE)
        for at in range(3 * unpacking._CHUNK_BYTES // length(SHAPE, 2) + 7)
    ]
    batch = unpack_batch(sent, SHAPE)
    for window in WEEKS[:3]:
        numbers = batch.updates[window]
        assert np.array_equal(batch.parts[window].ranks, numbers)
        assert np.array_equal(batch.parts[window].values[:, 0], numbers)
    assert sorted(batch.updates[WEEKS[3]]) == list(range(len(sent)))


def test_a_core_takes_the_parts_as_they_are() -> None:
    """The arrays are what the core checks: each verdict falls on the update it belongs to."""
    sent = [part([1], [[1, 1]]), part([99], [[1, 1]]), part([2], [[-(2**63), 0]])]
    batch = unpack_batch([pack({WEEKS[0]: p}, SHAPE) for p in sent], SHAPE)
    params = Params(cells=50, metrics=2, max_rows=8, min_contributions=1)
    verdicts = check_batch(batch.parts[WEEKS[0]], params)
    expected = [Verdict.ACCEPTED, Verdict.OUTSIDE_DOMAIN, Verdict.VALUE_BEYOND_BOUND]
    assert list(verdicts) == expected


def test_nothing_of_the_contents_is_printed() -> None:
    batch = unpack_batch([pack({WEEKS[0]: part([77], [[987, 0]])}, SHAPE)], SHAPE)
    assert repr(batch) == "Batch(contents of 1 updates withheld)"


def test_every_verdict_of_a_core_is_a_reason() -> None:
    refusals = [verdict for verdict in Verdict if verdict is not Verdict.ACCEPTED]
    assert [Reason[verdict.name] for verdict in refusals] == list(Reason)[-len(refusals) :]
