"""Envelopes: they open in their own row with their own key, and say little by their length."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from aggregation.partials.envelope import Label, open_partial, seal_partial
from aggregation.partials.keys import KeyFolder, KeyName, PartialKey
from aggregation.protocol.windows import Unit, Window

DAY = date(2026, 11, 16)
WEEK = Window.parse("2026-11-09", Unit.WEEK)
LABEL = Label("partial", "p1" * 16, "weekly-trips", WEEK, 1, "ab" * 16)
KEY = PartialKey(LABEL.key_name(DAY), bytes(range(32)))
STATE = b"the sum of a few devices"
HEADER = len("mayfly partial") + 1 + 16 + 12


def sealed(state: bytes = STATE) -> bytes:
    return seal_partial(state, label=LABEL, key=KEY)


@given(st.binary(max_size=10_000))
def test_what_is_sealed_is_opened(state: bytes) -> None:
    assert open_partial(sealed(state), label=LABEL, key=KEY) == state


@pytest.mark.parametrize("size", [0, 4087, 4088, 4089, 8184, 8185, 100_000])
def test_states_at_the_edges_of_the_padding(size: int) -> None:
    state = bytes(size)
    assert open_partial(sealed(state), label=LABEL, key=KEY) == state


OTHERS = {
    "table": replace(LABEL, table="receipts"),
    "partial": replace(LABEL, partial="p2" * 16),
    "task": replace(LABEL, task="other-trips"),
    "window": replace(LABEL, window=WEEK.next()),
    "unit": replace(LABEL, window=Window.parse("2026-11-09", Unit.DAY)),
    "level": replace(LABEL, level=2),
    "session": replace(LABEL, session="cd" * 16),
    "no session": replace(LABEL, session=""),
    "fields run together": replace(LABEL, table="partialp", partial="1" + "p1" * 15),
}


@pytest.mark.parametrize("name", OTHERS)
def test_it_opens_in_no_other_row(name: str) -> None:
    """Even where the other row's key is the same secret: each field is bound on its own."""
    other = OTHERS[name]
    key = PartialKey(other.key_name(DAY), KEY.secret)
    with pytest.raises(Problem, match="does not open: it, or its row, is not as it was stored"):
        open_partial(sealed(), label=other, key=key)


def test_two_rows_do_not_swap_their_bodies() -> None:
    other = replace(LABEL, partial="p2" * 16)
    mine, theirs = sealed(), seal_partial(STATE, label=other, key=KEY)
    for envelope, label in ((theirs, LABEL), (mine, other)):
        with pytest.raises(Problem, match="does not open"):
            open_partial(envelope, label=label, key=KEY)


def test_every_byte_is_authenticated() -> None:
    envelope = sealed()
    ends = [len(envelope) - 1, len(envelope) - 16, len(envelope) - 17]
    for at in [*range(HEADER + 40), *range(HEADER + 40, len(envelope), 97), *ends]:
        changed = envelope[:at] + bytes([envelope[at] ^ 1]) + envelope[at + 1 :]
        with pytest.raises(Problem):
            open_partial(changed, label=LABEL, key=KEY)


@pytest.mark.parametrize("cut", [0, 1, 14, 15, 31, HEADER - 1, HEADER, HEADER + 15, 4000])
def test_it_does_not_open_cut_short_or_with_more(cut: int) -> None:
    for changed in (sealed()[:cut], sealed() + bytes(cut + 1)):
        with pytest.raises(Problem):
            open_partial(changed, label=LABEL, key=KEY)


def test_another_version_is_not_read() -> None:
    envelope = sealed()
    with pytest.raises(Problem, match="not an envelope we can read"):
        open_partial(envelope.replace(b"partial\x01", b"partial\x02", 1), label=LABEL, key=KEY)


def test_another_key_is_named() -> None:
    other = PartialKey(KEY.name, bytes(32))
    with pytest.raises(Problem, match="was sealed with another key than that for level 1 of"):
        open_partial(sealed(), label=LABEL, key=other)


def test_the_key_id_alone_opens_nothing() -> None:
    other = PartialKey(KEY.name, bytes(32))
    forged = sealed().replace(KEY.id, other.id, 1)
    with pytest.raises(Problem, match="does not open"):
        open_partial(forged, label=LABEL, key=other)


@pytest.mark.parametrize("level", [1, 2])
def test_a_key_of_another_name_is_refused_before_it_is_used(level: int) -> None:
    other = KeyName("weekly-trips", "2026-11-16", level, DAY)
    for use in (seal_partial, open_partial):
        with pytest.raises(Problem, match="is not sealed with the key for level"):
            use(sealed(), label=LABEL, key=PartialKey(other, bytes(32)))


def test_an_erased_key_takes_its_envelopes_along(tmp_path: Path) -> None:
    folder = KeyFolder(tmp_path / "partials")
    envelope = seal_partial(STATE, label=LABEL, key=folder.for_sealing(KEY.name))
    folder.erase(KEY.name)
    with pytest.raises(Problem, match="has been erased"):
        folder.for_opening(KEY.name)
    with pytest.raises(Problem, match=r"another key.*made later"):
        open_partial(envelope, label=LABEL, key=folder.for_sealing(KEY.name))


def test_the_length_is_a_power_of_two_and_no_more() -> None:
    overhead = HEADER + 16
    lengths = {size: len(sealed(bytes(size))) - overhead for size in range(0, 9000, 250)}
    assert set(lengths.values()) == {4096, 8192, 16384}
    assert {size for size, length in lengths.items() if length == 4096} == set(range(0, 4088, 250))
    assert [len(sealed(bytes(size))) - overhead for size in (4088, 4089)] == [4096, 8192]


@pytest.mark.parametrize("length", [len(STATE) + 8192, 2**63])
def test_a_length_that_its_padding_contradicts_is_not_believed(length: int) -> None:
    """By someone who holds the key; the bytes beyond must not be left out or made up."""
    header = sealed()[:HEADER]
    plain = (length.to_bytes(8, "little") + STATE).ljust(4096, b"\0")
    body = AESGCM(KEY.secret).encrypt(header[-12:], plain, header + LABEL.canonical())
    with pytest.raises(Problem, match="padded in a way that we do not pad"):
        open_partial(header + body, label=LABEL, key=KEY)


def test_nothing_of_the_state_can_be_seen() -> None:
    marked = b"canary-7f3a" * 40
    envelope, again = sealed(marked), sealed(marked)
    assert b"canary" not in envelope
    assert KEY.secret not in envelope
    assert envelope[:31] == again[:31]
    assert envelope[31:HEADER] != again[31:HEADER]
    assert not set(_blocks(envelope)) & set(_blocks(again))
    with pytest.raises(Problem) as refused:
        open_partial(envelope[:-1], label=LABEL, key=KEY)
    assert refused.value.__suppress_context__
    assert "canary" not in repr(vars(refused.value))


def _blocks(envelope: bytes) -> list[bytes]:
    return [envelope[at : at + 16] for at in range(HEADER, len(envelope), 16)]
