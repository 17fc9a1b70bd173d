"""Days and weeks of civil time that the fleet's counts are shown for."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

from aggregation.protocol.windows import Unit, Window
from portal.collection.fleet_counts import Span, monday

SHOWN = {Span.DAY: 14, Span.WEEK: 12}
_LENGTH = {Span.DAY: timedelta(days=1), Span.WEEK: timedelta(days=7)}


@dataclass(frozen=True)
class Choice:
    """What is looked at: one day or week of those shown, of one population or of all."""

    span: Span
    start: date
    # Empty for every population.
    population: str
    # Of the day or week that it is now.
    latest: date

    @classmethod
    def of(cls, span: Span, *, at: date, population: str, today: date) -> "Choice":
        start, latest = (monday(d) if span == Span.WEEK else d for d in (at, today))
        return cls(span, start, population, latest)

    @property
    def starts(self) -> list[date]:
        """Of all that are shown, the latest first."""
        return [self.latest - n * _LENGTH[self.span] for n in range(SHOWN[self.span])]

    @property
    def is_shown(self) -> bool:
        return self.start in self.starts

    @property
    def is_latest(self) -> bool:
        return self.start == self.latest

    @property
    def label(self) -> str:
        return label(self.span, self.start)

    @property
    def query(self) -> str:
        """As an address has it; the usual is left out, and the latest stays the latest."""
        given = {
            "by": "" if self.span == Span.DAY else self.span,
            "at": "" if self.is_latest else self.start.isoformat(),
            "population": self.population,
        }
        return "?" + urlencode({name: value for name, value in given.items() if value})

    def at(self, start: date) -> "Choice":
        return replace(self, start=start)

    def of_population(self, name: str) -> "Choice":
        return replace(self, population=name)

    def by(self, span: Span, today: date) -> "Choice":
        return Choice.of(span, at=today, population=self.population, today=today)


def label(span: Span, start: date) -> str:
    """`Mon 16 Nov` is a day, `2026-W47` a week."""
    if span == Span.DAY:
        return f"{start:%a} {start.day} {start:%b}"
    return Window.containing(datetime.combine(start, time(), UTC), Unit.WEEK).label
