"""How far clipping may have moved a value beyond what the correction ρ undoes.

Clipping acts before the noise, so its effect is not known from the release: it is learnt from
proxy or public data, as all parameters are (`ClipUncertainty` in the spec). Per metric:

- *random*: devices lose to the clip each on their own account, so a cell of n events is off by
  c/√n of its value.
- *together*: the cells of one device are clipped by one factor. Measured correlations between
  the cells of a place are 0.95 for trips, but 0.35 for kilometres, which differ more from trip to
  trip. So neither adding widths (as if r were 1) nor their squares (as if it were 0) is right:
  with S_k the width of the cells of kind k (activity, direction), a sum over kinds has

      width² = (1 − r) · Σ S_k² + r · (Σ S_k)².

- *systematic*: a share that no number of events makes smaller, such as the loss itself where
  nothing corrects it, or the chance in the proxy that ρ was fitted on. It is the same in all
  places, so over them it adds up. Over kinds it does only where it is their common loss; chance
  and what a common ρ leaves differ from kind to kind, and partly cancel.
- *alike*: by how much it does, the r of the same formula with S_k the systematic part of kind k.

Different places are different devices: squares add. S_k of a row is taken from its sums over
places, not place by place: by Minkowski's inequality Σ_p (Σ_k S_pk)² ≤ (Σ_k √Σ_p S_pk²)², with
equality where all places have the same mix, so a sum over places is never too narrow for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from aggregation.errors import Problem
from aggregation.mechanisms.slices import Slicing
from aggregation.protocol.anonymization import ClipUncertainty
from aggregation.protocol.part import Floats
from aggregation.protocol.ranks import Cells
from aggregation.release.axes import collapse

# Keys whose values hold different devices. Along all others a device has cells side by side.
PLACES: Final = ("region", "country")
# A count this many standard deviations above nothing is no noise: of Laplace draws, one in 160,000
# is as far out.
_CLEAR: Final = 8.0
_ALL: Final = slice(None)


@dataclass(frozen=True, eq=False)
class ClipLaw:
    """The terms of all metrics, in their order; half-widths at 95 %."""

    # Which metric counts events.
    count: int
    random: Floats
    together: Floats
    systematic: Floats
    alike: Floats

    @classmethod
    def of(cls, given: ClipUncertainty, metrics: Sequence[str]) -> ClipLaw:
        if {given.count, *given.metrics} != set(metrics):
            raise Problem(
                "Clip uncertainty is not of these metrics.",
                hint=f"Give its terms for {', '.join(metrics)}.",
            )
        terms = [given.metrics[metric] for metric in metrics]
        return cls(
            count=list(metrics).index(given.count),
            random=np.array([float(t.random) for t in terms]),
            together=np.array([float(t.together) for t in terms]),
            systematic=np.array([float(t.systematic) for t in terms]),
            alike=np.array([float(t.alike) for t in terms]),
        )

    def of_cells(self, values: Floats) -> Floats:
        """Half-widths of decoded cells, from their own noised values."""
        width: Floats = np.hypot(self.random_of(values), self.systematic * values)
        return width

    def random_of(self, values: Floats) -> Floats:
        """The random part alone."""
        events = np.maximum(values[:, self.count], 1.0)
        width: Floats = np.abs(values) * (self.random / np.sqrt(events)[:, None])
        return width

    def of_sums(
        self, values: Floats, kinds: Floats, spread: Floats, cells: Cells, by: Sequence[str]
    ) -> Floats:
        """Half-widths of sums by these keys, from the values of each kind that they add up.

        `kinds` has a row for each of `cells`: these keys, and all others that are no places.
        `spread` is the standard deviation of the noise in each row's count of events.
        """
        squares = self.random_squares(kinds, spread, cells)
        random = added(np.maximum(squares, 0.0), cells, by, together=self.together)
        systematic = self.systematic_squares(values, collapse(kinds**2, cells, by))
        width: Floats = np.sqrt(random + systematic)
        return width

    def systematic_squares(
        self, values: Floats, squares: Floats, metrics: int | slice = _ALL
    ) -> Floats:
        """Squares of the systematic part of sums, from these and the squares of their kinds."""
        share, alike = self.systematic[metrics], self.alike[metrics]
        found: Floats = share**2 * ((1 - alike) * squares + alike * values**2)
        return found

    def random_squares(self, kinds: Floats, spread: Floats, cells: Cells) -> Floats:
        """Squares of the random part, row by row: (c · mean value per event)² · events.

        A row that stands out of its noise has its own mean: trips are longer in one place than in
        another. Any other has that of its kind over the rows that do. Over all rows it would not
        do: where most are empty, their noise alone decides the sum of events, which may come out
        as nothing at all, and the mean as anything. A kind that no row stands out in counts
        nothing: what clipping took from it is a part of what is smaller than its noise.

        Where noise made events negative their square is so, too, and cancels in sums over many
        rows; what is left below nothing is nothing.
        """
        along = [name for name in cells.names if name not in PLACES]
        slicing = Slicing.by(along, cells)
        of = slicing.of(np.arange(cells.size))
        clear = kinds[:, self.count] >= _CLEAR * spread
        sums = [np.bincount(of[clear], m[clear], minlength=len(slicing)) for m in kinds.T]
        mean = self._per_event(np.stack(sums, axis=1).astype(np.float64))[of]
        mean[clear] = self._per_event(kinds[clear])
        squares: Floats = (self.random * mean) ** 2 * kinds[:, [self.count]]
        return squares

    def _per_event(self, values: Floats) -> Floats:
        mean: Floats = np.abs(values) / np.maximum(values[:, [self.count]], 1.0)
        return mean


def added(squares: Floats, cells: Cells, by: Sequence[str], *, together: Floats | float) -> Floats:
    """Squared widths of sums by these keys, from those of their kinds."""
    apart = collapse(squares, cells, by)
    as_one = collapse(np.sqrt(squares), cells, by) ** 2
    both: Floats = (1 - together) * apart + together * as_one
    return both
