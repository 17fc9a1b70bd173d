"""The error of a release, and which totals tell whether intervals keep their promise."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from devices_sim.fleet.ground_truth import CellSums
from devices_sim.simulation.errors import Error, errors_of

TRUE = 1000


def found(folder: Path, value: float | None, width: float) -> Error:
    """Of a release with one of two cells shown, and this total."""
    cells = {"num_trips": [980.0, None], "num_trips_ci95": [50.0, None], "suppressed": [None, "x"]}
    total = {"num_trips": [value], "num_trips_ci95": [width], "suppressed": [None]}
    pq.write_table(pa.table(cells), folder / "cells.parquet")
    pq.write_table(
        pa.table(total, schema=pa.schema([*pa.table(cells).schema])), folder / "total.parquet"
    )
    truth = CellSums(np.array([0]), np.array([[1, TRUE, 0, 0]]))
    (error,) = errors_of(folder, truth)
    return error


def test_it_is_told_of_cells_that_are_shown(tmp_path: Path) -> None:
    error = found(tmp_path, 1010.0, 60.0)
    assert (error.cells, error.shown, error.held) == (2, 1, 1.0)
    assert error.median == pytest.approx(0.02)
    assert error.in_all == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("value", "width", "held"),
    [
        (1010.0, 60.0, True),
        (1100.0, 60.0, False),
        (1400.0, 500.0, True),
        # Half of what there is could be noise: had it been smaller, it would not be shown.
        (3200.0, 1500.0, None),
        (1400.0, 501.0, None),
        (None, 60.0, None),
    ],
)
def test_a_total_counts_where_noise_does_not_decide_whether_it_is_shown(
    tmp_path: Path, value: float | None, width: float, held: bool | None
) -> None:
    assert found(tmp_path, value, width).total_held is held
