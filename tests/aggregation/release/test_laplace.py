"""The sampler against its law: bins, single integers, OpenDP's own sampler."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import stats

from aggregation.errors import Problem
from aggregation.protocol.anonymization import GRID
from aggregation.release.laplace import DiscreteLaplace
from aggregation.release.randomness import RandomIntegers
from tests.aggregation.release.fit import cumulative, law_in_bins, p_value

EPSILONS = [Fraction(2), Fraction(1, 2), Fraction(77, 100), Fraction(8), Fraction(1, 100)]


@pytest.fixture(scope="module")
def count(size: str) -> int:
    return 150_000 if size == "everyday" else 4_000_000


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_it_fits_its_law_and_no_other(epsilon: Fraction, count: int) -> None:
    """False alarm 1e-4 an ε; a scale off by 5 % is missed less often than once in 1e9."""
    decay = epsilon / GRID
    draws = DiscreteLaplace(decay).draw(count)
    assert p_value(draws, decay) > 1e-4
    assert p_value(draws, decay, scale=1.05) < 1e-4
    assert p_value(draws, decay, scale=0.95) < 1e-4


@pytest.mark.parametrize("decay", [Fraction(1), Fraction(1, 3), Fraction(5, 7), Fraction(9, 4)])
def test_every_single_integer_has_its_probability(decay: Fraction, count: int) -> None:
    """Where the law is narrow a slip of one shows: a zero counted twice, a wrong rounding."""
    draws = DiscreteLaplace(decay).draw(count)
    far = int(np.log(count / 20) / float(decay))
    z = np.arange(-far, far + 1)
    seen = np.array([(draws <= -far).sum(), *((draws == v).sum() for v in z[1:-1])])
    seen = np.append(seen, (draws >= far).sum())
    below = cumulative(z, float(decay))
    expected = np.diff(np.concatenate([[0.0], below[:-1], [1.0]]))
    # False alarm 1e-4 a decay.
    assert stats.chisquare(seen, expected * count).pvalue > 1e-4


def test_draws_are_independent_of_their_neighbours() -> None:
    """Correlations at lags 1 to 8 are within 5 standard errors: false alarm 5e-6."""
    draws = np.sign(DiscreteLaplace(Fraction(2, GRID)).draw(200_000)).astype(float)
    sizes = stats.rankdata(np.abs(DiscreteLaplace(Fraction(2, GRID)).draw(200_000)))
    for values in (draws, sizes - sizes.mean()):
        for lag in range(1, 9):
            shift = values[lag:] * values[:-lag]
            assert abs(shift.mean()) < 5 * shift.std() / np.sqrt(len(shift))


def test_it_agrees_with_opendp(size: str) -> None:
    """Two samples, one law: χ² of a 2 × 100 table, false alarm 1e-4; ±8 % is told apart."""
    dp.enable_features("contrib")
    number = 40_000 if size == "everyday" else 1_000_000
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_laplace(*space, scale=GRID / 2.0)([0] * number))
    for percent, agrees in ((100, True), (108, False), (92, False)):
        ours = DiscreteLaplace(Fraction(2, GRID) * Fraction(100, percent)).draw(number)
        edges, _ = law_in_bins(2 / GRID, 100)
        table = [np.bincount(np.searchsorted(edges, s)) for s in (ours, theirs)]
        assert (stats.chi2_contingency(table).pvalue > 1e-4) == agrees


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 7, 1000, 3 << 29, (1 << 31) + 1, 3 << 60])
def test_integers_below_a_bound_are_uniform(bound: int) -> None:
    """χ² over at most 50 equal parts; false alarm 1e-4 a bound."""
    values = RandomIntegers().below(bound, 100_000)
    assert values.min() >= 0
    assert values.max() < bound
    parts = min(bound, 50)
    seen = np.bincount([int(v) * parts // bound for v in values], minlength=parts)
    upper = [-(-(k + 1) * bound // parts) for k in range(parts)]
    expected = np.diff([0, *upper]).astype(float) / bound * len(values)
    assert parts == 1 or stats.chisquare(seen, expected).pvalue > 1e-4


class _Told(RandomIntegers):
    """Words that are told beforehand instead of drawn."""

    def __init__(self, *words: list[int], size: int) -> None:
        self._told = [b"".join(w.to_bytes(size, "little") for w in some) for some in words]

    def _bytes(self, count: int) -> bytes:
        told = self._told.pop(0)
        assert len(told) == count
        return told


@pytest.mark.parametrize(("bound", "size"), [(3, 4), (3 << 29, 4), ((1 << 31) + 1, 8)])
def test_a_word_is_drawn_again_from_the_largest_multiple_on(bound: int, size: int) -> None:
    """One word in four billion too many is nothing that a sample could show."""
    end = 1 << 8 * size
    limit = end - end % bound
    random = _Told([limit - 1, limit, 0, end - 1], [limit, bound], [1], size=size)
    assert random.below(bound, 4).tolist() == [bound - 1, 1, 0, 0]
    assert not random._told


@pytest.mark.parametrize("bound", [-1, 0, (1 << 62) + 1])
def test_it_refuses_what_is_no_bound(bound: int) -> None:
    with pytest.raises(ValueError, match=str(bound)):
        RandomIntegers().below(bound, 1)


def test_as_many_as_asked_for_also_beyond_a_megabyte() -> None:
    values = RandomIntegers().below(1 << 62, 300_000)
    assert len(values) == 300_000
    # Two are alike with probability 1e-8.
    assert len(np.unique(values)) == len(values)


def test_coins_are_fair_in_any_number() -> None:
    random = RandomIntegers()
    assert [len(random.bits(n)) for n in (0, 1, 8, 9)] == [0, 1, 8, 9]
    # 5 standard errors: false alarm 6e-7.
    assert abs(random.bits(1_000_000).mean() - 0.5) < 0.0025


def test_no_two_streams_are_alike_and_none_can_be_copied() -> None:
    one, other = DiscreteLaplace(Fraction(2, GRID)), DiscreteLaplace(Fraction(2, GRID))
    assert (one.draw(1000) != other.draw(1000)).sum() > 900
    assert (one.draw(1000) != one.draw(1000)).sum() > 900
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="not copied"):
            copied(one)


def test_as_many_as_asked_for() -> None:
    law = DiscreteLaplace(Fraction(1, 1000))
    assert [len(law.draw(n)) for n in (0, 1, 40_000)] == [0, 1, 40_000]


@pytest.mark.parametrize("decay", [Fraction(0), Fraction(-1, 5), Fraction(1, 1 << 50)])
def test_it_refuses_what_is_no_decay(decay: Fraction) -> None:
    with pytest.raises(Problem, match="No noise is drawn"):
        DiscreteLaplace(decay)
