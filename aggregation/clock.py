"""Civil time, injected: windows, grace, time-to-live and releases ask a clock, never the machine.

Machine time (heartbeats, time-outs, back-off, cookies) is real and monotonic and does not
come from here. Every clock gives aware UTC datetimes.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from aggregation.errors import Problem


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    """Civil time is the machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class ManualClock:
    """Stands still until it is told to move; lives in one process."""

    def __init__(self, start: datetime) -> None:
        self._now = _aware(start)

    def now(self) -> datetime:
        return self._now

    def set(self, moment: datetime) -> None:
        self._now = _aware(moment)

    def advance(self, by: timedelta) -> None:
        self._now += by


@dataclass(frozen=True)
class Segment:
    """From the real moment on, simulated time runs from `simulated` at `speed` times real time."""

    real: float  # seconds since 1970, the machine's time
    simulated: float  # seconds since 1970, civil time
    speed: float  # simulated seconds per real second; 0 stands still

    def at(self, real: float) -> float:
        return self.simulated + max(0.0, real - self.real) * self.speed


# Segments of the past that stay in the file: nobody asks for the time it was.
_KEPT = 8


class SimulatedClock:
    """Civil time as segments in a file, so that all processes of a system read the same time.

    Changing the speed, setting the time and standing still each append a segment. The file is
    replaced as a whole, so a reader sees the old list or the new one; writers take turns. `alive`
    marks a real moment at which the system was running: when it comes back after a crash, `resume`
    goes on from the civil time of that mark, as if the time in between had not been.
    """

    def __init__(self, path: Path, *, machine: Callable[[], float] = time.time) -> None:
        self._path = path
        self._machine = machine
        self._read_version: tuple[int, int, int] | None = None
        self._segments: list[Segment] = []

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._at(self._machine()), UTC)

    @property
    def speed(self) -> float:
        return self._read()[-1].speed

    @property
    def is_new(self) -> bool:
        """It has stood still since it was started."""
        return [segment.speed for segment in self._read()] == [0.0]

    def exists(self) -> bool:
        return self._path.exists()

    def start(self, moment: datetime, *, speed: float) -> None:
        """Begin a new time line; only where there is none yet."""
        first = Segment(self._machine(), _aware(moment).timestamp(), _checked(speed))
        with self._writing():
            if self.exists():
                raise Problem(
                    f"The clock file {self._path} exists already.", hint="Remove it first."
                )
            self._alive_path.unlink(missing_ok=True)  # a mark of the time line before this one
            self._write([first])

    def set_speed(self, speed: float) -> None:
        """From now on at another speed; the time itself goes on without a jump."""
        checked = _checked(speed)
        with self._writing():
            real = self._machine()
            self._append(Segment(real, self._at(real), checked))

    def set(self, moment: datetime) -> None:
        """Jump to a moment, forward or back (a system must survive both)."""
        simulated = _aware(moment).timestamp()
        with self._writing():
            self._append(Segment(self._machine(), simulated, self.speed))

    def advance(self, by: timedelta) -> None:
        with self._writing():
            real = self._machine()
            self._append(Segment(real, self._at(real) + by.total_seconds(), self.speed))

    def alive(self) -> None:
        """Say that the system is running now; called every second or so by its supervisor."""
        _replace(self._alive_path, repr(self._machine()))

    def resume(self) -> None:
        """Take out the time since the last `alive` mark: the system was down.

        Somebody may have set the time or the speed after that mark; this counts as one, too.
        """
        with self._writing():
            latest, real = self._read()[-1], self._machine()
            last = max(self._last_alive(), latest.real)
            if latest.speed == 0 or real <= last:
                return
            stopped_at = latest.at(last)
            self._append(Segment(last, stopped_at, 0.0), Segment(real, stopped_at, latest.speed))

    @property
    def _alive_path(self) -> Path:
        return self._path.with_suffix(".alive")

    def _last_alive(self) -> float:
        try:
            return float(self._alive_path.read_text())
        except (FileNotFoundError, ValueError):
            return 0.0

    def _at(self, real: float) -> float:
        segments = self._read()
        current = next((s for s in reversed(segments) if s.real <= real), segments[0])
        return current.at(real)

    def _read(self) -> list[Segment]:
        try:
            stat = os.stat(self._path)
        except FileNotFoundError:
            raise Problem(
                f"The simulated clock has no file {self._path}.",
                hint="Start it with `manage.py clock start`.",
            ) from None
        version = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
        if version != self._read_version:
            self._segments = _parsed(self._path)
            self._read_version = version
        return self._segments

    def _append(self, *added: Segment) -> None:
        self._write([*self._read()[-_KEPT:], *added])

    def _write(self, segments: list[Segment]) -> None:
        rows = [[s.real, s.simulated, s.speed] for s in segments]
        _replace(self._path, json.dumps(rows))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One writer at a time: two that read the same list would lose one of their segments."""
        with self._path.with_suffix(".lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _parsed(path: Path) -> list[Segment]:
    try:
        segments = [Segment(*map(float, row)) for row in json.loads(path.read_text())]
    except (ValueError, TypeError):
        segments = []
    if not segments:
        raise Problem(
            f"The clock file {path} is damaged.",
            hint="Remove it and start the clock again with `manage.py clock start`.",
        )
    return segments


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.new")
    try:
        temporary.write_text(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _checked(speed: float) -> float:
    if not 0 <= speed <= 1e7:
        raise Problem(f"A clock's speed is between 0 and 10,000,000, not {speed}.")
    return float(speed)


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise Problem(f"The moment {moment} has no time zone.", hint="Give it in UTC.")
    return moment.astimezone(UTC)
