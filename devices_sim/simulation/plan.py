"""The plan of a simulation: what was asked for, checked, and its timeline."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from aggregation.errors import Problem
from aggregation.protocol.windows import Unit, Window
from devices_sim.fleet.reach import ALL_THREE, IDLE
from devices_sim.fleet.scenario import Scenario

MOST_DEVICES: Final = 10_000_000
MOST_WEEKS: Final = 52
# How long a week's windows can be sent, after it.
GRACE: Final = timedelta(days=7)
_SAME: Final = {"streams", "static"}
# Phones wake on the hour: often enough for any of them, seldom enough to be quick.
STEP_SECONDS: Final = 3600.0
# The tasks of a simulation, and the conditions under which phones run them.
TASKS: Final = {"weekly-trips": IDLE, "country-modal-split": ALL_THREE}
KEYS: Final[dict[str, tuple[str, ...]]] = {
    "weekly-trips": ("region", "activity", "direction"),
    "country-modal-split": ("country", "activity"),
}


@dataclass(frozen=True)
class Plan:
    scenario: Scenario
    weeks: int
    # Where the system keeps everything; it did not exist before, or was empty.
    data: Path
    tasks: tuple[str, ...]
    # Processes that phones live in.
    processes: int
    port: int
    # Civil, an hour before the first week: whatever is approved in it collects from Monday on.
    start: datetime

    @property
    def windows(self) -> tuple[Window, ...]:
        found = [Window.containing(self.start + timedelta(hours=2), Unit.WEEK)]
        while len(found) < self.weeks:
            found.append(found[-1].next())
        return tuple(found)

    @property
    def end(self) -> datetime:
        return self.windows[-1].end + GRACE

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def first_moment(now: datetime) -> datetime:
    return Window.containing(now.astimezone(UTC), Unit.WEEK).start - timedelta(hours=1)


def checked_size(*, devices: int | None, weeks: int, processes: int) -> None:
    if devices is not None and not 1 <= devices <= MOST_DEVICES:
        raise Problem(f"--devices is a number from 1 to {MOST_DEVICES:,}, not {devices:,}.")
    if not 1 <= weeks <= MOST_WEEKS:
        raise Problem(f"--weeks is a number from 1 to {MOST_WEEKS}, not {weeks:,}.")
    if not 1 <= processes <= 64:
        raise Problem(f"--processes is a number from 1 to 64, not {processes:,}.")


def usable_folder(folder: Path) -> Path:
    """An empty folder, made if need be: a simulation is never mixed with anything else.

    Streams and static files are the same for all systems: they may be there already.
    """
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or {p.name for p in folder.iterdir()} - _SAME):
        raise Problem(
            f"{folder} is not empty, and a simulation needs a data folder of its own.",
            hint="Name one that does not exist yet.",
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{folder} cannot be made: {error.strerror}.") from None
    if not os.access(folder, os.W_OK):
        raise Problem(f"This user may not write to {folder}.")
    return folder
