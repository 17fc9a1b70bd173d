"""The phone's own ε ledger: what all tasks together may cost its owner, per stream and week.

The server keeps the same sum and refuses first; this one does not rely on it. A window is charged
to every stream its task reads, in every civil week it overlaps, in the transaction that stores
its update. A charge is never taken back: an update that is said not to have counted may have.
Running the same window of the same client task again costs nothing more, as at most one counts.
By sequential composition the week's sum bounds what all releases can tell about this phone's week.

Whole hundredths of ε, never rounded. Only so many weeks are kept; those before them are closed
for good, so that nothing can be charged to a week whose sum is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final

from aggregation.protocol.windows import Unit, Window
from devices_sim.device.refusal import Refused
from devices_sim.device.state import Budget

# Of one window. Beyond it, one phone's presence shows through any noise.
MAX_PER_WINDOW: Final = 800
# Of one stream in one civil week.
WEEKLY_CAP: Final = 400
# A month window that ended a month ago began nine weeks ago.
KEPT_WEEKS: Final = 14
_EPSILON: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{1,2})?")


def price(epsilon: str) -> int:
    """A client task's ε in hundredths; refused unless it is a whole number of them, in bounds."""
    hundredths = int(Decimal(epsilon) * 100) if _EPSILON.fullmatch(epsilon) else 0
    if not 0 < hundredths <= MAX_PER_WINDOW:
        raise Refused(
            f"Its ε is {epsilon[:20]!r}; this phone takes 0.01 to {MAX_PER_WINDOW // 100} "
            "for one window, in steps of 0.01."
        )
    return hundredths


def unaffordable(
    budget: Budget,
    streams: Iterable[str],
    windows: Iterable[Window],
    cost: int,
    *,
    cap: int = WEEKLY_CAP,
) -> dict[Window, str]:
    """Of windows to be charged in this order, those that some week has no room for, and why."""
    names = sorted(streams)
    taken: dict[str, int] = {}
    refused = {}
    for window in windows:
        weeks = mondays(window)
        if why := _why_not(budget, names, weeks, taken, cost=cost, cap=cap):
            refused[window] = f"{window.id}: {why}"
            continue
        for monday in weeks:
            taken[monday] = taken.get(monday, 0) + cost
    return refused


def _why_not(
    budget: Budget,
    streams: Iterable[str],
    weeks: Iterable[str],
    taken: Mapping[str, int],
    *,
    cost: int,
    cap: int,
) -> str:
    for monday in weeks:
        if monday < budget.floor:
            return f"the week of {monday} is closed on this phone."
        for stream in streams:
            left = cap - budget.weeks.get(monday, {}).get(stream, 0) - taken.get(monday, 0)
            if cost > left:
                return (
                    f"it would cost {stream} ε {in_words(cost)} in the week of {monday}; "
                    f"{in_words(left)} of {in_words(cap)} is left."
                )
    return ""


def charge(budget: Budget, streams: Collection[str], window: Window, cost: int) -> None:
    for monday in mondays(window):
        week = budget.weeks.setdefault(monday, {})
        for stream in streams:
            week[stream] = week.get(stream, 0) + cost
    for monday in sorted(budget.weeks)[:-KEPT_WEEKS]:
        del budget.weeks[monday]
        budget.floor = Window.parse(monday, Unit.WEEK).next().id


@lru_cache(maxsize=4096)
def mondays(window: Window) -> tuple[str, ...]:
    """The Monday of every civil week that the window overlaps; a month has up to six."""
    week = Window.containing(window.start, Unit.WEEK)
    found = []
    while week.start < window.end:
        found.append(week.id)
        week = week.next()
    return tuple(found)


def in_words(hundredths: int) -> str:
    """ε as people write it: 150 is 1.5."""
    return format(Decimal(hundredths) / 100, "f")
