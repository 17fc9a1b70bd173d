"""The built-in step: a query's rows become at most one row per slice and metric, saying only
in which bucket this device's norm lies.

Guarantee: ε-differential privacy for adding or removing one device's contribution to one window,
like any task, and nothing new has to be believed for it. A step runs on the device alone, before
bounding, and what it makes are ordinary rows on declared cells: a closed domain of slices, metrics
and buckets, each of which is noised. Whatever it makes, right or wrong, `bounding` leaves Σ|q| ≤ K
of it, so one device moves the sums by at most K, and noise of scale K/ε on every cell suffices.

What bounding makes of it. Each row has the value 1, and calibration tasks clip jointly at 1: a
device with k rows counts as 1/k in each of its buckets, as 1 in all. So the sum of all cells is
the number of devices, and the noise on a bucket is 1/ε devices. (Rounding leaves a device up to
k/2 + 1 of its 2^20 units short.) The weights favour devices with few slices; quantiles read from
the buckets are of that weighted crowd.
"""

from __future__ import annotations

import numpy as np

from aggregation.errors import Problem
from aggregation.mechanisms.norms import problems
from aggregation.mechanisms.slices import Slicing, scale_array
from aggregation.ondevice.sandbox import QueryFailed
from aggregation.protocol.client_task import ClientTask, Step
from aggregation.protocol.part import Floats, Integers
from aggregation.protocol.ranks import Cells
from aggregation.protocol.steps import BUCKETS, LOWEST_SCALED, SliceNorms, buckets_of


class PreparedStep:
    """A step made ready for the cells of its query. Made with a `Problem` where it is no step."""

    def __init__(self, step: Step, cells: Cells) -> None:
        found = problems(step.norms, cells, step.metrics)
        if found:
            raise Problem(found[0].message, hint=found[0].hint)
        norms = step.norms
        self._slicing = Slicing.by(norms.by, cells)
        if isinstance(norms, SliceNorms):
            self._scales = None
            self._lowest = np.array([norms.lowest[metric] for metric in step.metrics])
        else:
            self._scales = scale_array(norms.scales, self._slicing, step.metrics)
            self._lowest = np.array([LOWEST_SCALED])

    def rows(self, ranks: Integers, values: Floats) -> tuple[Integers, Floats]:
        """The buckets of one device, from its query's cells: ranks in order, each with a 1."""
        with np.errstate(over="ignore", invalid="ignore"):
            norms = self._norms(ranks, values)
        if not np.isfinite(norms).all():
            raise QueryFailed
        places = np.flatnonzero(norms)
        lowest = self._lowest[places % len(self._lowest)]
        made = places * BUCKETS + buckets_of(norms.ravel()[places], lowest)
        return made, np.ones((len(made), 1))

    def _norms(self, ranks: Integers, values: Floats) -> Floats:
        """L1 norms: one per slice and metric, or the one of all of them, scaled."""
        norms = np.zeros((len(self._slicing), values.shape[1]))
        np.add.at(norms, self._slicing.of(ranks), np.abs(values))
        return norms if self._scales is None else (norms / self._scales).sum(keepdims=True)


def prepared_step(task: ClientTask, step: Step, cells: Cells) -> PreparedStep:
    """The task's step, if the task declares just the cells that the step makes."""
    prepared = PreparedStep(step, cells)
    if task.keys != step.made_keys or task.metrics != step.made_metrics:
        raise Problem("The task does not declare what its step makes.")
    return prepared
