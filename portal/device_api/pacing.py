"""When devices come back: pure functions, so that a herd can be looked for in tests.

Check-in hints are spans of civil seconds, from which each device draws its moment evenly.
Retry-After is machine seconds, drawn here. What keeps devices apart:

- A span is at least a quarter of an hour long, and half as long as what opens next can be sent for.
  Devices that come together, at a window's end or after an outage, do not come together again.
- What opens next is waited for: days with nothing to send have no check-ins at all.
- Nobody is sent past the time in which the next window can be sent.
- Whoever finds a part of the server away is sent off for a time about as long as it has been away:
  those who gathered during an outage return over as long as the outage lasted.
"""

import random
from collections.abc import Collection

from aggregation.protocol.messages import NextCheckIn
from aggregation.protocol.windows import Unit

HOUR = 3600.0
DAY = 24 * HOUR

# How long a device rests while something is open that it may not have sent yet.
_REST = {Unit.HOUR: HOUR, Unit.DAY: DAY, Unit.WEEK: DAY, Unit.MONTH: DAY}
_LEAST_SPREAD, _MOST_SPREAD, _USUAL_SPREAD = HOUR / 4, DAY, 6 * HOUR
# New tasks are heard of within a week, even if nothing was due for a year.
_LONGEST = 7 * DAY
# A wholly busy server has devices come so much less often.
_MOST_STRETCH = 4.0
# Machine seconds: the shortest time worth waiting, and the longest that devices are sent off for.
_LEAST_RETRY, _MOST_RETRY = 2.0, 1800.0


def next_check_in(
    *,
    open_units: Collection[Unit],
    next_due_seconds: float | None,
    next_due_open_seconds: float | None,
    busy: float,
) -> NextCheckIn:
    """After a rest if something is open now; when something opens; whichever comes first."""
    stretch, spans = _stretch(busy), []
    if open_units or next_due_seconds is None:
        rest = stretch * min(_REST[unit] for unit in open_units or (Unit.DAY,))
        spans.append((0.75 * rest, 1.25 * rest))
    if next_due_seconds is not None:
        due = min(max(next_due_seconds, 0.0), _LONGEST)
        spans.append((due, due + _spread(next_due_open_seconds, stretch)))
    begins, ends = zip(*spans, strict=True)
    return NextCheckIn(min_seconds=round(min(begins)), max_seconds=round(min(ends)))


def turned_away_seconds(rng: random.Random, *, busy: float) -> int:
    """Civil seconds until a device that was turned away may ask for an assignment again."""
    return round(_stretch(busy) * HOUR / 4 * (1 + rng.random()))


def retry_after(rng: random.Random, *, over_seconds: float) -> int:
    """Machine seconds for Retry-After; devices are spread over so long, within reason."""
    spread = min(max(over_seconds, _LEAST_RETRY), _MOST_RETRY)
    return round(_LEAST_RETRY + rng.random() * spread)


def _spread(open_seconds: float | None, stretch: float) -> float:
    """How long devices take to come once a window has opened, or is open for so long."""
    if open_seconds is None:
        return _USUAL_SPREAD
    # However busy, a device has a quarter of the time left to send in.
    share = min(0.5 * stretch, 0.75)
    return min(max(share * open_seconds, _LEAST_SPREAD), _MOST_SPREAD)


def _stretch(busy: float) -> float:
    return 1 + (_MOST_STRETCH - 1) * min(max(busy, 0.0), 1.0)
