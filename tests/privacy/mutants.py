"""Releases that are wrong, each in one way that someone has made: the audit flags them all."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from aggregation.protocol.anonymization import GRID
from aggregation.release.estimates import cell_estimates
from aggregation.release.laplace import DiscreteLaplace
from aggregation.release.marginals import marginal
from aggregation.release.noise import add_noise
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from tests.aggregation.release.examples import report_of
from tests.privacy.lower_bound import Fields
from tests.privacy.releases import (
    METRICS,
    Neighbours,
    of_estimates,
    published,
    released,
    repeated,
    summed,
    wide,
)

DECAY = Fraction(1, GRID)
# Which data sets (by place in `neighbours`) a mutant is caught on.
FAR, _EDGE, EMPTY = range(3)
Mutant = Callable[[Recipe, Neighbours, bool, int], Fields]
MUTANTS: dict[str, tuple[int, Mutant]] = {}


def mutant(on: int) -> Callable[[Mutant], Mutant]:
    def keep(function: Mutant) -> Mutant:
        MUTANTS[function.__name__] = (on, function)
        return function

    return keep


def _parts(data: Neighbours, has_device: bool) -> list:
    return [*data.others, *([data.device] if has_device else [])]


def _honest(small: Recipe, data: Neighbours, has_device: bool, count: int, draws=None) -> Fields:
    sums = summed(small, _parts(data, has_device))
    return released(wide("group_scaling", count), sums, count, draws)


class _Changed:
    """Draws of the right law, changed by a function."""

    def __init__(self, change: Callable[[np.ndarray], np.ndarray], decay: Fraction = DECAY) -> None:
        self._law, self._change = DiscreteLaplace(decay), change

    def draw(self, count: int) -> np.ndarray:
        return self._change(self._law.draw(count))


@mutant(FAR)
def half_the_noise(small, data, has_device, count):
    return _honest(small, data, has_device, count, DiscreteLaplace(2 * DECAY))


@mutant(FAR)
def a_fifth_less_noise(small, data, has_device, count):
    return _honest(small, data, has_device, count, DiscreteLaplace(DECAY * 5 / 4))


@mutant(FAR)
def noise_of_one_sign(small, data, has_device, count):
    return _honest(small, data, has_device, count, _Changed(np.abs))


@mutant(FAR)
def noise_cut_off_at_three_scales(small, data, has_device, count):
    cut = _Changed(lambda z: np.where(np.abs(z) <= 3 * GRID, z, z % (3 * GRID)))
    return _honest(small, data, has_device, count, cut)


@mutant(FAR)
def the_same_noise_for_all_metrics(small, data, has_device, count):
    shared = _Changed(lambda z: np.repeat(z[:: len(METRICS)], len(METRICS)))
    return _honest(small, data, has_device, count, shared)


@mutant(FAR)
def a_fixed_seed(small, data, has_device, count):
    size = small.cells.size * len(METRICS)
    fixed = np.random.default_rng(7).laplace(scale=GRID, size=size).astype(np.int64)
    seeded = _Changed(lambda z: fixed[np.arange(len(z)) % size])
    return _honest(small, data, has_device, count, seeded)


@mutant(FAR)
def noise_for_one_share_of_a_split_budget(small, data, has_device, count):
    return _honest(small, data, has_device, count, DiscreteLaplace(4 * DECAY))


@mutant(FAR)
def counted_twice(small, data, has_device, count):
    twice = [*_parts(data, has_device), *([data.device] if has_device else [])]
    return released(wide("group_scaling", count), summed(small, twice), count)


@mutant(FAR)
def clipped_per_metric(small, data, has_device, count):
    """Each metric has the whole bound, so one device can fill it as often as there are metrics."""
    sums = summed(small, data.others)
    sums[0] += GRID * has_device
    return released(wide("group_scaling", count), sums, count)


@mutant(FAR)
def released_twice(small, data, has_device, count):
    first, second = (_honest(small, data, has_device, count) for _ in range(2))
    return first | {f"{name}, again": values for name, values in second.items()}


@mutant(EMPTY)
def sessions_below_k_dropped(small, data, has_device, count):
    """A session of 25 devices counts, one of 24 does not: one device decides for all."""
    session = [data.device] * 24 + ([data.device] if has_device else [])
    sums = summed(small, session) * (len(session) >= 25)
    return released(wide("group_scaling", count), sums, count)


@mutant(EMPTY)
def noise_on_seen_cells_only(small, data, has_device, count):
    made, sums = wide("group_scaling", count), summed(small, _parts(data, has_device))
    noised = add_noise(report_of(repeated(sums, count)), made)
    noised.sums[repeated(sums, count) == 0] = 0
    return published(made, noised, count)


@mutant(FAR)
def suppressed_by_the_true_value(small, data, has_device, count):
    made, sums = wide("group_scaling", count), summed(small, _parts(data, has_device))
    without = summed(small, data.others)
    fields = released(made, sums, count)
    is_small = sums[0, 0] <= without[0, 0]  # a threshold that lies just above the others' sum
    hidden = {n: np.where(is_small, np.nan, v) for n, v in fields.items() if "num_trips by" in n}
    return fields | hidden


@mutant(FAR)
def an_exact_count_beside_it(small, data, has_device, count):
    fields = _honest(small, data, has_device, count)
    return fields | {"contributions": np.full(count, len(_parts(data, has_device)))}


@mutant(FAR)
def sums_over_keys_without_noise(small, data, has_device, count):
    made, sums = wide("group_scaling", count), summed(small, _parts(data, has_device))
    exact = marginal(Noised(repeated(sums, count)), made, ("release",))
    return released(made, sums, count) | of_estimates(made, exact, count)


@mutant(FAR)
def fresh_noise_for_sums_over_keys(small, data, has_device, count):
    """Two noised answers to one question: together they spend twice the ε."""
    made, sums = wide("group_scaling", count), summed(small, _parts(data, has_device))
    total = sums.sum(axis=0) + DiscreteLaplace(DECAY).draw(count * 2).reshape(count, 2)
    fields = released(made, sums, count)
    return fields | {f"noised total {m}": total[:, m] for m in range(2)}


@mutant(EMPTY)
def a_float_laplace(small, data, has_device, count):
    """numpy's, added to a decoded value: its last bits tell what it was added to."""
    rng = np.random.default_rng(int(has_device))
    fields = _honest(small, data, has_device, count)
    value = 1.0 * has_device + rng.laplace(scale=1.0, size=count)
    return fields | {"num_trips by activity+direction, row 0": value}


@mutant(FAR)
def half_widths_from_the_true_value(small, data, has_device, count):
    """An interval as wide as the true value asks for gives the true value away."""
    made, sums = wide("group_scaling", count), summed(small, _parts(data, has_device))
    fields = released(made, sums, count)
    true = cell_estimates(Noised(repeated(sums, count)), made).values[:, 0]
    return fields | {"relative half-width": 1 / true.reshape(count, -1)[:, 0]}
