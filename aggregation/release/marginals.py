"""Marginals: sums over every subset of the keys, from **all** noised cells, before suppression.

A sum over shown cells only would under-count, by what suppression hides. Noised cells are already
private, so adding them up is post-processing and costs no ε; but the noise of all summed cells
adds up too, and a marginal has its own half-width and its own suppression.

Within a slice all cells are decoded by the same numbers, so their noised integers are added first:
exactly, in any order (each device adds at most K over all cells together, so no sum can wrap).
Decoded slices are then added one after another in the order of the domain, which gives the same
bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from aggregation.release.estimates import Estimates, corrections
from aggregation.release.grouping import Grouping
from aggregation.release.marginal_plan import Plan, all_of
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe


def subsets(recipe: Recipe, grouping: Grouping | None = None) -> list[tuple[str, ...]]:
    """Every proper subset of the keys, the larger first, down to the total, `()`.

    With a grouping of a key, also each set of keys with the group in the key's place.
    """
    names = recipe.cells.names
    found = [s for size in range(len(names), -1, -1) for s in combinations(names, size)]
    if grouping is None or not grouping.applies_to(names):
        return found[1:]
    replaced = [
        tuple(grouping.name if n == grouping.key else n for n in s)
        for s in found
        if grouping.key in s
    ]
    return sorted([*found[1:], *replaced], key=lambda s: -len(s))


def marginals(
    noised: Noised, recipe: Recipe, *, grouping: Grouping | None = None
) -> Iterator[Estimates]:
    """All of them, one at a time."""
    for by in subsets(recipe, grouping):
        yield marginal(noised, recipe, by, grouping=grouping)


def marginal(
    noised: Noised, recipe: Recipe, by: Sequence[str], *, grouping: Grouping | None = None
) -> Estimates:
    """The estimates over these keys, each the sum of all noised cells that share them."""
    plan = Plan.of(recipe, by, grouping)
    decoded, cells = plan.decoded(noised)
    rows = plan.rows()
    values = plan.over_slices(decoded, cells)
    classes, law = plan.law(rows)
    rho = corrections(recipe)
    correction = np.zeros((1, len(recipe.metrics)))
    if rho is not None:
        before = plan.over_slices(decoded / rho[plan.slicing(cells).of(all_of(cells))], cells)
        correction = np.divide(values, before, out=np.ones_like(values), where=before != 0) - 1
    return Estimates(
        cells=rows,
        metrics=recipe.metrics,
        values=values,
        law=law,
        classes=classes,
        correction=correction,
        clip=None if recipe.clip is None else plan.clip(noised, values, recipe.clip),
    )
