"""How one marginal is added up: which keys are summed as integers, and which after decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.mechanisms.noise_law import Noise
from aggregation.mechanisms.slices import Slicing
from aggregation.protocol.anonymization import BudgetSplit, GroupScaling, JointClipping, Mechanism
from aggregation.protocol.part import Floats, Integers
from aggregation.protocol.ranks import Cells
from aggregation.release.axes import Number, collapse, grouped
from aggregation.release.clipping import PLACES, ClipLaw
from aggregation.release.estimates import LEVEL, Classes, NoiseLaw, slice_spreads
from aggregation.release.grouping import Grouping
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from aggregation.release.sum_law import Spread


@dataclass(frozen=True, eq=False)
class Plan:
    """Which axes are kept, which are summed as integers, and which only after decoding."""

    recipe: Recipe
    # Axes of the result, by name.
    by: tuple[str, ...]
    # The mechanism's own columns, in its order.
    sliced: tuple[str, ...]
    grouping: Grouping | None

    @classmethod
    def of(cls, recipe: Recipe, by: Sequence[str], grouping: Grouping | None) -> Plan:
        names = recipe.cells.names
        used = grouping if grouping and grouping.name in by and grouping.applies_to(names) else None
        known = [*names, *([used.name] if used else [])]
        if len(set(by)) < len(by) or not set(by) <= set(known) or (used and used.key in by):
            message = f"There is no marginal by {', '.join(by) or 'nothing'}."
            raise Problem(message, hint=f"The keys are {', '.join(known) or 'none'}.")
        if used and len(used.group_of) != recipe.cells.counts[names.index(used.key)]:
            raise Problem(f"The groups of {used.key} are not of this task's domain.")
        order = [used.name if used and n == used.key else n for n in names]
        return cls(
            recipe, tuple(n for n in order if n in by), _columns(recipe.config.mechanism), used
        )

    def decoded(self, noised: Noised, *, along: bool = False) -> tuple[Floats, Cells]:
        """Values by kept key and slice: integer sums first, then decoding.

        With `along`, also by every key along which a device has cells side by side.
        """
        cells, needed = self.recipe.cells, {*self.by, *self.sliced, self._grouped}
        kept = [n for n in cells.names if n in needed or (along and n not in PLACES)]
        sums = collapse(noised.sums, cells, kept)
        cells = _only(cells, kept)
        if self.grouping and self.grouping.key not in self.sliced:
            sums, cells = self._group(sums, cells)
        arithmetic = replace(self.recipe.arithmetic, slicing=self.slicing(cells))
        return arithmetic.decode(np.ascontiguousarray(sums)), cells

    def over_slices(self, decoded: Floats, cells: Cells) -> Floats:
        """Sums over the slices that are not kept."""
        decoded, cells = self._grouped_by(decoded, cells)
        return collapse(decoded, cells, self.by)

    def rows(self) -> Cells:
        cells = self.recipe.cells
        if self.grouping:
            cells = self.grouping.replaced_in(cells)
        return _only(cells, self.by)

    def slicing(self, cells: Cells) -> Slicing:
        return Slicing.by(self.sliced, cells)

    def law(self, rows: Cells) -> tuple[Classes, NoiseLaw]:
        """Cumulants of one cell's noise, summed as the values are; rows alike share a class."""
        covariance, spread = slice_spreads(self.recipe.arithmetic, float(self.recipe.epsilon))
        metrics = len(self.recipe.metrics)
        features = np.concatenate([covariance.reshape(len(covariance), -1), spread.fourth], axis=1)
        cells = self.recipe.cells
        inner = _only(cells, self.sliced, ordered=True)
        kept = [n for n in self.sliced if n in self.by or n == self._grouped]
        features, inner = collapse(features, inner, kept), _only(inner, kept)
        summed = set(cells.names) - set(self.by) - set(self.sliced) - {self._grouped}
        features = features * float(prod(cells.counts[cells.names.index(n)] for n in summed))
        if self.grouping:
            features, inner = self._group_features(features, inner)
        classes = Slicing.by(inner.names, rows).of(all_of(rows)).astype(np.int32)
        summed_covariance = features[:, : metrics**2].reshape(-1, metrics, metrics)
        variance = np.diagonal(summed_covariance, axis1=1, axis2=2)
        law = Spread(variance, features[:, metrics**2 :])
        noise = Noise(LEVEL, law.mean_abs(), law.half_width(LEVEL))
        return classes, NoiseLaw(noise, summed_covariance, law.draws)

    def clip(self, noised: Noised, values: Floats, law: ClipLaw) -> Floats:
        """Half-widths of clipping, of rows with these values."""
        decoded, cells = self.decoded(noised, along=True)
        both = np.column_stack([decoded, self._variance(cells, law.count)])
        both, cells = self._grouped_by(both, cells)
        kept = [n for n in cells.names if n in self.by or n not in PLACES]
        both = collapse(both, cells, kept)
        kinds, spread = both[:, :-1], np.sqrt(both[:, -1])
        return law.of_sums(values, kinds, spread, _only(cells, kept), self.by)

    def _variance(self, cells: Cells, metric: int) -> Floats:
        """Of the noise of one metric in rows that were decoded: it adds up as they do."""
        covariance, _ = slice_spreads(self.recipe.arithmetic, float(self.recipe.epsilon))
        whole = self.recipe.cells
        summed = [n for n in whole.names if n not in cells.names and n != self._grouped]
        many = float(prod(whole.counts[whole.names.index(n)] for n in summed))
        rows = all_of(cells)
        found: Floats = covariance[self.slicing(cells).of(rows), metric, metric] * many
        if self.grouping and self.grouping.name in cells.names:
            sizes = np.bincount(self.grouping.group_of, minlength=len(self.grouping.groups))
            found = found * sizes[cells.indices(rows, self.grouping.name)]
        return found

    @property
    def _grouped(self) -> str:
        return self.grouping.key if self.grouping else ""

    def _grouped_by(self, values: Floats, cells: Cells) -> tuple[Floats, Cells]:
        """By group where it is not done yet."""
        waits = self.grouping is not None and self.grouping.key in cells.names
        return self._group(values, cells) if waits else (values, cells)

    def _group(self, values: NDArray[Number], cells: Cells) -> tuple[NDArray[Number], Cells]:
        assert self.grouping is not None  # noqa: S101
        axis = cells.names.index(self.grouping.key)
        values = grouped(values, cells, axis, self.grouping.group_of)
        return values, self.grouping.replaced_in(cells)

    def _group_features(self, features: Floats, inner: Cells) -> tuple[Floats, Cells]:
        """By group: the sum over its values, or so many times the same."""
        assert self.grouping is not None  # noqa: S101
        if self.grouping.key in inner.names:
            return self._group(features, inner)
        sizes = np.bincount(self.grouping.group_of, minlength=len(self.grouping.groups))
        widened = features[:, None, :] * sizes[None, :, None]
        names = (*inner.names, self.grouping.name)
        return widened.reshape(-1, features.shape[1]), Cells(
            names, (*inner.domains, self.grouping.groups)
        )


def _columns(mechanism: Mechanism) -> tuple[str, ...]:
    if isinstance(mechanism, JointClipping):
        return ()
    if isinstance(mechanism, BudgetSplit):
        return mechanism.slice_by
    return mechanism.scale_by if isinstance(mechanism, GroupScaling) else mechanism.by


def _only(cells: Cells, names: Sequence[str], *, ordered: bool = False) -> Cells:
    """These keys of the cells, in the order of the cells, or in their own."""
    kept = list(names) if ordered else [n for n in cells.names if n in names]
    return Cells(tuple(kept), tuple(cells.domains[cells.names.index(n)] for n in kept))


def all_of(cells: Cells) -> Integers:
    return np.arange(cells.size)
