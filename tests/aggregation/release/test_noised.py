"""The stored numbers: the same back, small, and nothing else accepted."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from aggregation.errors import Problem
from aggregation.release.noise import add_noise
from aggregation.release.noised import Noised
from tests.aggregation.release.examples import recipe, report_of

SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 5))


@given(arrays.arrays(np.int64, SHAPES, elements=st.integers(-(2**63), 2**63 - 1)))
def test_what_is_stored_comes_back(sums: np.ndarray) -> None:
    back = Noised.decode(Noised(sums).encode())
    np.testing.assert_array_equal(back.sums, sums)
    assert back.sums.dtype == np.int64


def test_the_hash_is_of_the_numbers() -> None:
    noised = Noised(np.array([[1, -2], [3, 2**40]]))
    plain = b"mayfly noised 1 2 2\n" + np.array([1, -2, 3, 2**40], dtype="<i8").tobytes()
    assert noised.sha256 == hashlib.sha256(plain).hexdigest()


def test_it_takes_little_more_than_its_entropy() -> None:
    """Noise of scale 2^19 has 21.4 bits; no packing can do with fewer."""
    made = recipe(domains={"region": tuple(map(str, range(20_000))), "activity": ("walking",
                  "driving"), "direction": ("within",)})  # fmt: skip
    noised = add_noise(report_of(np.zeros(made.shape)), made)
    bits = 8 * len(noised.encode()) / noised.sums.size
    assert 21.4 < bits < 23


def test_a_changed_byte_is_noticed() -> None:
    raw = Noised(np.arange(300).reshape(100, 3) * 12345 - 10**6).encode()
    for place in range(0, len(raw), 7):
        damaged = bytearray(raw)
        damaged[place] ^= 1
        with pytest.raises(Problem, match="damaged"):
            Noised.decode(bytes(damaged))


@pytest.mark.parametrize("raw", [b"", b"\x00", b"not stored by us", b"\x95\x01\x02\x03\xa0\x90"])
def test_other_bytes_are_refused(raw: bytes) -> None:
    with pytest.raises(Problem, match="damaged"):
        Noised.decode(raw)
