"""How a share has changed since the window before, with an interval of its own.

Each of the two shares has Fieller's interval (`dividing`), of which we keep the longer side. Noise
is drawn anew for every window, so the two miss their true shares independently. An interval of the
difference is then the root of the squares of the sides that lie towards each other (Zou and Donner,
2008, "Construction of confidence limits about effect measures: a general approach"); with the
longer side for each of them it is no narrower. What clipping moves is alike in two windows and
partly cancels, as in `change`: squares add as if it did not.

Both shares are of the same whole: among the same activities, or of all of them in both windows.
Where one of the two is not known there is no comparison, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping

from portal.releases.browsing import words
from portal.releases.browsing.change import Change
from portal.releases.browsing.charting import Chart
from portal.releases.browsing.measuring import added, share, share_beside, without
from portal.releases.browsing.tables import Tables, pick
from portal.releases.reading import Number

POINTS = "percentage points"
MOVED = "A share also moves when there is more or less of everything else."


def share_since(
    chart: Chart, now: Number, held: Mapping[str, str], than: str, earlier: Tables
) -> tuple[Change | None, str]:
    """The change of the first row, and a sentence; the whole it is a share of is the same."""
    name = chart.labels[0]
    if chart.is_of_shown:
        return None, f"Shares of what is shown are not compared with {than}."
    view, ranked = chart.view, chart.ranked
    key = ranked.key if ranked else view.by
    # A place has its own whole where places are ranked; else it is that of the country, if chosen.
    around = held if ranked else view.where
    of = {one: value for one, value in around.items() if one != key}
    among = ranked.among if ranked else ()
    is_there = earlier.has(view.metric, of)
    before = share_in(earlier, view.metric, held, of, among) if is_there else None
    change = Change.between(before, now) if before else None
    if change is None:
        return None, f"The share for {name} is not known for {than}: there is no comparison."
    return change, f"For {name} that is {compared(change, than)} {MOVED}"


def share_in(
    tables: Tables,
    metric: str,
    held: Mapping[str, str],
    of: Mapping[str, str],
    among: tuple[str, ...],
) -> Number | None:
    """What the number at `held` is of the sum at `of`, or of some values of the key that is held
    beside it; nothing where one of them is not shown."""
    part = tables.one(metric, held)
    if part is None or part.number.value is None:
        return None
    if not among:
        whole = tables.one(metric, of)
        found = share(part.number, whole.number) if whole else without(part.number)
    else:
        (key,) = held.keys() - of.keys()
        others = _others(tables, metric, held, key, among)
        is_known = len(others) == len(among) - 1
        found = share_beside(part.number, added(others)) if is_known else without(part.number)
    return found if found.value is not None else None


def compared(change: Change, than: str) -> str:
    """`2.1 ± 0.9 percentage points more than the week before; the change is larger than the
    noise.`"""
    if not change.is_clear:
        told = words.difference(change, POINTS)
        return f"no clear difference from {than} ({told}): any difference could be noise alone."
    word = "more" if change.difference > 0 else "less"
    told = words.distance(change, POINTS)
    return f"{told} {word} than {than}; the change is larger than the noise."


def _others(
    tables: Tables, metric: str, held: Mapping[str, str], key: str, among: tuple[str, ...]
) -> list[Number]:
    """Those values of the whole, beside the one that is held, that are shown."""
    names = [value for value in among if value != held[key]]
    where = {**{name: [value] for name, value in held.items()}, key: names}
    layout, rows = tables.rows(list(where), metric, where=where, shown_only=True, count=len(names))
    return [pick(layout, row, metric) for row in rows]
