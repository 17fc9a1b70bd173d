"""Windows: the privacy time units. UTC civil hours, days, weeks (from Monday) and months.

Windows of one unit tile time: every moment lies in exactly one, `[start, end)`. A device's
contribution is bounded per window, and (device, window) is the unit of the privacy guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property

from aggregation.errors import Problem


class Unit(StrEnum):
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, order=True)
class Window:
    """One privacy time unit. Made with `containing` or `parse`, so it is always aligned."""

    start: datetime
    unit: Unit

    def __post_init__(self) -> None:
        in_utc = self.start.utcoffset() == timedelta(0)
        if not in_utc or _round_down(self.start, self.unit) != self.start:
            raise Problem(
                f"No {self.unit} window starts at {self.start}.",
                hint="Windows start on whole UTC hours, days, Mondays or firsts of a month.",
            )
        try:
            self.end  # noqa: B018 - a window without an end cannot be waited for
        except OverflowError:
            raise Problem(f"The {self.unit} from {self.start} ends after the year 9999.") from None

    @classmethod
    def containing(cls, moment: datetime, unit: Unit) -> Window:
        if moment.tzinfo is None:
            raise Problem(f"The moment {moment} has no time zone.", hint="Give it in UTC.")
        return cls(_round_down(moment.astimezone(UTC), unit), unit)

    @classmethod
    def parse(cls, window_id: str, unit: Unit) -> Window:
        form = "%Y-%m-%dT%H" if unit is Unit.HOUR else "%Y-%m-%d"
        try:
            start = datetime.strptime(window_id, form).replace(tzinfo=UTC)
            window = cls(start, unit)
        except (ValueError, Problem):
            window = None
        if window is None or window.id != window_id:
            example = "2026-11-09T14" if unit is Unit.HOUR else "2026-11-09"
            raise Problem(
                f"{window_id!r} is not the id of a {unit} window.",
                hint=f"It is the window's first moment in UTC, such as {example}.",
            )
        return window

    def __hash__(self) -> int:
        """Of the start alone: windows are looked up often, and rarely beside other units."""
        return hash(self.start)

    @cached_property
    def end(self) -> datetime:
        if self.unit is Unit.MONTH:
            return (self.start + timedelta(days=31)).replace(day=1)
        return self.start + _LENGTH[self.unit]

    @cached_property
    def span(self) -> tuple[float, float]:
        """Start and end in seconds since 1970."""
        return self.start.timestamp(), self.end.timestamp()

    @cached_property
    def id(self) -> str:
        """Equal to `privacy_time_unit` on the device: the first moment, to the hour or the day."""
        return self.start.isoformat()[
            : len("2026-11-09T14" if self.unit is Unit.HOUR else "2026-11-09")
        ]

    @property
    def label(self) -> str:
        """For people: 2026-W46, 2026-11, or the id."""
        if self.unit is Unit.WEEK:
            year, week, _ = self.start.isocalendar()
            return f"{year:04d}-W{week:02d}"
        return self.id[: len("2026-11")] if self.unit is Unit.MONTH else self.id

    def __str__(self) -> str:
        return self.id

    def next(self) -> Window:
        return Window(self.end, self.unit)

    def previous(self) -> Window:
        return Window.containing(self.start - timedelta(microseconds=1), self.unit)

    def __contains__(self, moment: datetime) -> bool:
        return self.start <= moment < self.end


_LENGTH = {
    Unit.HOUR: timedelta(hours=1),
    Unit.DAY: timedelta(days=1),
    Unit.WEEK: timedelta(weeks=1),
}


def _round_down(moment: datetime, unit: Unit) -> datetime:
    if unit is Unit.HOUR:
        return moment.replace(minute=0, second=0, microsecond=0)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit is Unit.WEEK:
        return midnight - timedelta(days=midnight.weekday())
    return midnight.replace(day=1) if unit is Unit.MONTH else midnight
