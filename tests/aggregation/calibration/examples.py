"""A small proxy population to fit on, made once: 3 regions of 2,500 devices."""

from functools import lru_cache

import numpy as np

from aggregation.calibration.fitting import fitted
from aggregation.calibration.proxy import Proxy
from aggregation.calibration.scales import Scaled
from aggregation.calibration.weighing import Weights
from aggregation.ondevice.bounding import Rows
from aggregation.protocol.anonymization import Mechanism
from aggregation.protocol.domains import Domain
from aggregation.protocol.ranks import Cells
from portal.lab.comparing.travellers import travellers

LEAST_DEVICES = 400
BY = ("activity", "direction")


@lru_cache(maxsize=4)
def people(seed: int = 1) -> Proxy:
    return travellers(regions=3, per_region=2500, seed=seed)


def weights(proxy: Proxy) -> Weights:
    return Weights.of(proxy, least_devices=LEAST_DEVICES)


def scaled(proxy: Proxy, *by: str) -> Scaled:
    return Scaled.of(proxy, by or ("activity",))


@lru_cache(maxsize=16)
def fit(name: str, seed: int = 1, epsilon: float = 2.0) -> Mechanism:
    """Fitted once for all tests."""
    proxy = people(seed)
    return fitted(name, scaled(proxy), weights(proxy), epsilon=epsilon, rotate_by=BY)


def tiny(*devices: list[tuple[int, float, float]]) -> Proxy:
    """Devices as lists of (cell, trips, km), over 2 regions × 2 activities."""
    cells = Cells(("region", "activity"), (Domain(["a", "b"]), Domain(["walking", "driving"])))
    offsets = np.cumsum([0, *(len(rows) for rows in devices)])
    flat = [row for rows in devices for row in rows]
    ranks = np.array([row[0] for row in flat], dtype=np.int64)
    values = np.array([row[1:] for row in flat], dtype=float).reshape(-1, 2)
    return Proxy.of(cells, ("trips", "km"), Rows(offsets, ranks, values), count="trips")
