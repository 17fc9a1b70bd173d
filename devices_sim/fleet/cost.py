"""What a query costs a phone's battery: an estimate after the paper, never a measurement.

The paper (Device resource efficiency) reports for the 95th percentile of devices: less than 15 kB
both ways, 8.5 s from check-in to upload, of which the computation takes less than one second; and
from these, with the energy model of Patterson et al. (2024), less than 3 J over WiFi and 3.5 J over
a cellular connection. It gives neither the model's own constants nor the split between computing
and communicating. So here the power is spread evenly over the 8.5 s, and all constants follow from
the figures above:

- computing costs that power for as long as the processor works;
- communicating costs it for the other 7.5 s, however quick our simulated network is: as in the
  paper, the radio is taken to be woken for this query alone, so few bytes save nothing;
- more than 15 kB cost in proportion.

Hence at the paper's own point the estimate is the paper's bound. It is rather too high: in practice
the connection is shared with other traffic.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Network(StrEnum):
    WIFI = "wifi"
    CELLULAR = "cellular"


# The paper's figures, which bound 95 % of devices.
_BYTES: Final = 15_000
_SECONDS: Final = 8.5
_COMPUTING_SECONDS: Final = 1.0
_JOULES: Final = {Network.WIFI: 3.0, Network.CELLULAR: 3.5}
# The paper's typical battery of 3000 mAh, at the 3.7 V of lithium cells.
_BATTERY_JOULES: Final = 3.0 * 3600 * 3.7


def query_joules(*, total_bytes: int, cpu_seconds: float, network: Network) -> float:
    """Energy of one query: bytes up and down together, headers included, and time computing."""
    watts = _JOULES[network] / _SECONDS
    communicating = (_SECONDS - _COMPUTING_SECONDS) * max(1.0, total_bytes / _BYTES)
    return watts * (cpu_seconds + communicating)


def battery_percent(joules: float) -> float:
    """Of a typical phone's full battery."""
    return 100 * joules / _BATTERY_JOULES
