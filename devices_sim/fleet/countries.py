"""How the people of a country get about: the share of them who have each activity at all.

Rounded, from the general picture of published travel surveys (who owns a car, who cycles, where
motorcycles carry cities). They make countries differ as countries do; they are not a calibration,
and no result about a real country can be read from them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.shipped import ACTIVITIES
from devices_sim.fleet.places import continents

# Columns as in the domain: walking running cycling motorcycling driving bus train subway flying.
# Subway: of people in cities that have one.
_USERS: Final[dict[str, tuple[float, ...]]] = {
    # Continents, for countries without a row of their own
    "AF": (0.97, 0.06, 0.10, 0.20, 0.25, 0.50, 0.05, 0.20, 0.04),
    "AS": (0.97, 0.08, 0.20, 0.30, 0.35, 0.40, 0.15, 0.35, 0.10),
    "EU": (0.97, 0.15, 0.25, 0.05, 0.70, 0.32, 0.20, 0.40, 0.20),
    "NA": (0.96, 0.12, 0.10, 0.06, 0.75, 0.25, 0.05, 0.30, 0.20),
    "OC": (0.96, 0.16, 0.14, 0.03, 0.85, 0.18, 0.15, 0.20, 0.28),
    "SA": (0.97, 0.11, 0.14, 0.16, 0.48, 0.46, 0.06, 0.30, 0.12),
    # Countries
    "BR": (0.97, 0.12, 0.14, 0.14, 0.50, 0.48, 0.08, 0.30, 0.12),
    "CN": (0.97, 0.10, 0.32, 0.22, 0.40, 0.45, 0.18, 0.50, 0.12),
    "DE": (0.97, 0.18, 0.48, 0.04, 0.76, 0.28, 0.26, 0.40, 0.25),
    "DK": (0.97, 0.19, 0.62, 0.03, 0.66, 0.28, 0.24, 0.35, 0.26),
    "FI": (0.97, 0.18, 0.45, 0.03, 0.74, 0.36, 0.18, 0.40, 0.25),
    "FR": (0.97, 0.17, 0.24, 0.06, 0.76, 0.26, 0.22, 0.50, 0.22),
    "GB": (0.97, 0.16, 0.16, 0.03, 0.74, 0.32, 0.26, 0.40, 0.28),
    "ID": (0.96, 0.06, 0.16, 0.66, 0.28, 0.28, 0.10, 0.15, 0.08),
    "IN": (0.97, 0.05, 0.22, 0.38, 0.18, 0.45, 0.20, 0.25, 0.05),
    "JP": (0.97, 0.12, 0.34, 0.05, 0.55, 0.20, 0.50, 0.50, 0.20),
    "NL": (0.97, 0.17, 0.80, 0.03, 0.68, 0.20, 0.26, 0.30, 0.27),
    "US": (0.95, 0.16, 0.12, 0.03, 0.90, 0.12, 0.08, 0.30, 0.30),
    "VN": (0.96, 0.06, 0.14, 0.82, 0.14, 0.18, 0.06, 0.10, 0.07),
}  # fmt: skip


@lru_cache(maxsize=2)
def users(codes: tuple[str, ...]) -> NDArray[np.float64]:
    """A row for each country, a column for each activity."""
    rows = [
        _USERS.get(code) or _USERS.get(continents().get(code, ""), _USERS["AS"]) for code in codes
    ]
    table = np.array(rows, dtype=np.float64)
    assert table.shape == (len(codes), len(ACTIVITIES))  # noqa: S101 - a table typed by hand
    return table
