"""A synthetic travel population, bounded by the very code that phones run."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum, Report
from aggregation.ondevice.bounding import Rows, bound
from aggregation.protocol.anonymization import Rotated
from aggregation.release.recipe import Recipe
from tests.aggregation.release.examples import DOMAINS, METRICS, recipe

ACTIVITIES, DIRECTIONS = DOMAINS["activity"], DOMAINS["direction"]
# Kilometres and minutes of a typical trip.
_TRIP = {"walking": (1.2, 15.0), "driving": (11.0, 22.0)}


@dataclass(frozen=True)
class Population:
    rows: Rows
    # True sums by cell, before any bounding.
    truth: np.ndarray


def population(devices: int, regions: int, *, seed: int) -> Population:
    """Each device travels in its own region, by one or both activities, in both directions."""
    rng = np.random.default_rng(seed)
    home = rng.integers(0, regions, devices)
    busy = rng.gamma(2.0, 0.5, devices)
    owner, ranks, values = [], [], []
    for a, activity in enumerate(ACTIVITIES):
        km, minutes = _TRIP[activity]
        for d in range(len(DIRECTIONS)):
            trips = rng.poisson(busy * (9 if activity == "walking" else 6) / (1 + d))
            some = np.flatnonzero(trips)
            n = trips[some]
            far = km * rng.lognormal(-0.3, 0.8, len(some)) * n
            long = minutes * (far / (km * n)) ** 0.7 * rng.lognormal(0, 0.3, len(some)) * n
            owner.append(some)
            ranks.append((home[some] * len(ACTIVITIES) + a) * len(DIRECTIONS) + d)
            values.append(np.stack([n, far, long], axis=1).astype(float))
    who = np.concatenate(owner)
    order = np.argsort(who, kind="stable")
    offsets = np.zeros(devices + 1, dtype=np.int64)
    np.cumsum(np.bincount(who, minlength=devices), out=offsets[1:])
    rows = Rows(offsets, np.concatenate(ranks)[order], np.concatenate(values)[order])
    truth = np.zeros((regions * len(ACTIVITIES) * len(DIRECTIONS), len(METRICS)))
    np.add.at(truth, rows.ranks, rows.values)
    return Population(rows, truth)


def summed(made: Recipe, people: Population) -> Report:
    core = GroupBySum(Params.of(made.config).without_threshold())
    core.accumulate_batch(bound(made.arithmetic, people.rows, max_rows=made.config.max_rows))
    return core.report()


def tuned(
    proxy: Population, regions: int, *, quantile: float, by: tuple[str, ...], **changes: object
) -> Recipe:
    """Scales and one bound from proxy data, and ρ that undoes its average clip loss by slice."""
    domains = {**DOMAINS, "region": tuple(map(str, range(regions)))}
    slices = ["/".join(values) for values in product(*(DOMAINS[name] for name in by))]
    of_cell = np.arange(regions * len(ACTIVITIES) * len(DIRECTIONS)) % 4
    of_cell = of_cell if len(by) == 2 else of_cell // len(DIRECTIONS)
    of_row = of_cell[proxy.rows.ranks]
    scales = [np.quantile(proxy.rows.values[of_row == s], 0.95, axis=0) for s in range(len(slices))]
    sizes = (proxy.rows.values / np.array(scales)[of_row]).sum(axis=1)
    devices = len(proxy.rows.offsets) - 1
    who = np.repeat(np.arange(devices), np.diff(proxy.rows.offsets))
    clip = np.quantile(np.bincount(who, sizes, minlength=devices), quantile)
    basis = {
        name: tuple(tuple(row) for row in np.diag(1 / (scales[s] * clip)).tolist())
        for s, name in enumerate(slices)
    }
    plain = recipe(
        mechanism=Rotated(by, basis, dict.fromkeys(slices, (1.0,) * 3)), domains=domains, **changes
    )
    kept = plain.arithmetic.decode(summed(plain, proxy).sums)
    rho = {
        name: tuple(
            (proxy.truth[of_cell == s].sum(axis=0) / kept[of_cell == s].sum(axis=0)).tolist()
        )
        for s, name in enumerate(slices)
    }
    return recipe(mechanism=Rotated(by, basis, rho), domains=domains, **changes)
