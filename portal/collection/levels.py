"""Stored partials by level, and how long the first of them has to live. Civil time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count

from portal.collection.models import Partial


@dataclass(frozen=True)
class Level:
    level: int
    stored: int
    # Merged into the next level or a release; their keys are erased when their day is over.
    merged: int
    # Of the stored one that expires first.
    window: str
    expires_at: datetime | None
    left: timedelta
    percent: int

    @property
    def left_words(self) -> str:
        """`2 d 4 h`: two units, so that one can see it run down."""
        seconds = max(0, int(self.left.total_seconds()))
        for unit, name, smaller, smaller_name in _UNITS:
            if seconds >= unit:
                return f"{seconds // unit} {name} {seconds % unit // smaller} {smaller_name}"
        return f"{seconds} s"


_UNITS = ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))


def levels(*, now: datetime) -> tuple[Level, ...]:
    """Each level with partials that can still be read."""
    readable = Partial.objects.filter(state__in=[Partial.State.STORED, Partial.State.MERGED])
    counted = readable.values_list("level", "state").annotate(Count("pk")).order_by()
    found: dict[int, dict[str, int]] = {}
    for level, state, count in counted:
        found.setdefault(level, {})[state] = count
    return tuple(_level(level, counts, now) for level, counts in sorted(found.items()))


def _level(level: int, counts: dict[str, int], now: datetime) -> Level:
    rows = Partial.objects.filter(level=level, state=Partial.State.STORED)
    first = rows.defer("body").select_related("window__task").order_by("expires_at").first()
    life = first.expires_at - first.created_at if first else timedelta(1)
    left = max(timedelta(0), first.expires_at - now) if first else timedelta(0)
    return Level(
        level=level,
        stored=counts.get(Partial.State.STORED, 0),
        merged=counts.get(Partial.State.MERGED, 0),
        window=str(first.window) if first else "",
        expires_at=first.expires_at if first else None,
        left=left,
        percent=min(100, max(0, round(100 * (left / life)))) if life else 0,
    )
