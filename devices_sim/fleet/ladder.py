"""The version ladder: a week of the same phones under each version of the paper's platform.

Each step changes one mechanism, and nothing else: which wake-ups may be used, how long the engine
takes against how long a wake-up lasts, how many check-ins the synchronous aggregation takes in an
hour, and whether a check-in hands out one task at random or all that the phone still owes.
`ladder_fit` finds how often phones wake up from the paper's figures of version 0.1; the figures of
0.2, 0.3 and 1.0 are then predictions from the assumptions below, none of which was fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from devices_sim.fleet.ladder_phones import HOURS, SLOWNESS, Floats, Phones, WakeUps

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Assumed:
    """What the paper does not say, or says in part."""

    # Tasks that want an answer from every phone in the week: the fewest that compete.
    tasks: int = 2
    # How long the system lets a phone work, in the mean; never longer than the paper's minute.
    wake_up_seconds: float = 60.0
    longest_seconds: float = 60.0
    # The paper: check-in, download, query and upload take 8.5 s on all but 5 % of phones.
    light_p95_seconds: float = 8.5
    # The paper: of which the query itself less than one.
    query_p95_seconds: float = 1.0
    # What the heavy engine takes on top, on a middling phone: it is loaded, then it computes.
    heavy_seconds: float = 20.0
    # A round of the synchronous aggregation: it waits for a cohort, then sums it.
    cohort: int = 5000
    collect_seconds: float = 60.0
    # The paper: 200 to 400 µs for each update once the sum is native; before, fifty times that.
    fast_update_seconds: float = 0.0003
    slow_update_seconds: float = 0.015
    # Servers are enough for twice the mean load of every phone once a week for each task.
    servers_for_load: float = 2.0
    # A phone that is turned away comes again after so many hours.
    back_off_hours: int = 4


@dataclass(frozen=True)
class Version:
    name: str
    says: str
    charging_too: bool = False
    heavy: bool = False
    slow_sum: bool = False
    one_task: bool = False


VERSIONS: Final = (
    Version("0.1", "Baseline: idle, Wi-Fi, charging", True, True, True, True),
    Version("0.1 idle", "Baseline, idle only", False, True, True, True),
    Version("0.2", "On-device SQLite engine", False, False, True, True),
    Version("0.3", "Fast grouped summation", False, False, False, True),
    Version("1.0", "Several tasks per check-in, assigned by what a phone still owes"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Week:
    """What became of the phones under one version."""

    # Whether the phone answered the one task that reach is told of.
    reached: Marks
    check_ins: int
    turned_away: int
    # Admitted, but the wake-up ended before the work did.
    unfinished: int

    @property
    def reach(self) -> float:
        return float(self.reached.mean())


def run_week(
    version: Version,
    fleet: Phones,
    moments: WakeUps,
    assumed: Assumed,
    cancelled: Callable[[], bool] = lambda: False,
) -> Week:
    """Hour by hour: who wakes up and owes something checks in, as many as there is room for are
    admitted, and those whose wake-up lasts long enough have answered."""
    everything = np.uint8((1 << assumed.tasks) - 1)
    done = np.zeros(len(fleet), dtype=np.uint8)
    back_at = np.zeros(len(fleet), dtype=np.int16)
    room = room_an_hour(version, len(fleet), assumed)
    counted = [0, 0, 0]
    for hour in range(HOURS):
        if cancelled():
            raise Cancelled
        rows = slice(moments.starts[hour], moments.starts[hour + 1])
        phone, owed = moments.phone[rows], everything
        here = back_at[phone] <= hour
        if version.charging_too:
            here &= moments.charging[rows]
        if version.one_task:
            owed = np.left_shift(np.uint8(1), moments.lot[rows] % np.uint8(assumed.tasks))
        asked = owed & ~done[phone]
        here &= asked != 0
        seen = np.flatnonzero(here)
        admitted, away = seen[:room], seen[room:]
        back_at[phone[away]] = hour + assumed.back_off_hours
        needed = work_seconds(version, fleet.slowness[phone[admitted]], asked[admitted], assumed)
        ends = admitted[_lasts(moments.seconds[rows][admitted], needed, assumed)]
        np.bitwise_or.at(done, phone[ends], asked[ends])
        counted = [
            counted[0] + len(seen),
            counted[1] + len(away),
            counted[2] + len(admitted) - len(ends),
        ]
    return Week((done & 1).astype(bool), *counted)


class Cancelled(Exception):
    """Somebody asked for the study to stop."""


def room_an_hour(version: Version, phones: int, assumed: Assumed) -> int:
    """Check-ins admitted in an hour. The servers are those that version 0.1 has: a version whose
    rounds are shorter runs more of them."""
    slow = assumed.collect_seconds + assumed.cohort * assumed.slow_update_seconds
    fast = assumed.collect_seconds + assumed.cohort * assumed.fast_update_seconds
    mean_load = phones * assumed.tasks / HOURS
    return max(
        1, int(mean_load * assumed.servers_for_load * (1 if version.slow_sum else slow / fast))
    )


def work_seconds(
    version: Version, slowness: Floats, asked: NDArray[np.uint8], assumed: Assumed
) -> Floats:
    """What this version's work takes on phones of this slowness, for the tasks asked."""
    tail = np.exp(1.645 * SLOWNESS)
    seconds = assumed.light_p95_seconds / tail + assumed.heavy_seconds * version.heavy
    more = np.bitwise_count(asked) - 1.0
    needed: Floats = slowness * (seconds + more * assumed.query_p95_seconds / tail)
    return needed


def finishing(version: Version, slowness: Floats, assumed: Assumed) -> Floats:
    """The chance that a wake-up is long enough for one task."""
    needed = work_seconds(version, slowness, np.ones(len(slowness), dtype=np.uint8), assumed)
    in_time = needed <= assumed.longest_seconds
    chance: Floats = np.exp(-needed / assumed.wake_up_seconds) * in_time
    return chance


def _lasts(seconds: NDArray[np.float32], needed: Floats, assumed: Assumed) -> Marks:
    return (seconds >= needed) & (needed <= assumed.longest_seconds)
