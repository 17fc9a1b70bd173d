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
from portal.releases.browsing.charting import Chart, ranking_of
from portal.releases.browsing.history import earlier_period
from portal.releases.browsing.measuring import added, share, share_beside, without
from portal.releases.browsing.tables import Tables, pick
from portal.releases.reading import Number

_POINTS = "percentage points"
_MOVED = "A share also moves when there is more or less of everything else."


def share_since(
    chart: Chart, now: Number, held: Mapping[str, str], tables: Tables, earlier: Tables
) -> tuple[Change | None, str]:
    """The change of the first row, and a sentence; the whole it is a share of is the same."""
    than, name = earlier_period(tables.shown.release), chart.labels[0]
    ranked = ranking_of(chart.view, tables)
    if ranked is None and chart.remark:
        return None, f"Shares of what is shown are not compared with {than}."
    key = ranked.key if ranked else chart.view.by
    before = share_in(earlier, chart.view.metric, held, key, ranked.among if ranked else ())
    change = Change.between(before, now) if before else None
    if change is None:
        return None, f"Of {than} the share for {name} is not known: there is no comparison."
    return change, f"For {name} that is {compared(change, than)} {_MOVED}"


def share_in(
    tables: Tables, metric: str, held: Mapping[str, str], key: str, among: tuple[str, ...]
) -> Number | None:
    """What the value of `key` in `held` is of all values, or of some; nothing if not shown."""
    part = tables.one(metric, held)
    if part is None or part.number.value is None:
        return None
    if not among:
        rest = {name: value for name, value in held.items() if name != key}
        whole = tables.one(metric, rest)
        found = share(part.number, whole.number) if whole else without(part.number)
    else:
        others = _others(tables, metric, held, key, among)
        is_known = len(others) == len(among) - 1
        found = share_beside(part.number, added(others)) if is_known else without(part.number)
    return found if found.value is not None else None


def compared(change: Change, than: str) -> str:
    """`2.1 ± 0.9 percentage points more than the week before; the change is larger than the
    noise.`"""
    if not change.is_clear:
        told = words.difference(change, _POINTS)
        return f"no clear difference from {than} ({told}): what there is could be noise alone."
    word = "more" if change.difference > 0 else "less"
    told = words.distance(change, _POINTS)
    return f"{told} {word} than {than}; the change is larger than the noise."


def _others(
    tables: Tables, metric: str, held: Mapping[str, str], key: str, among: tuple[str, ...]
) -> list[Number]:
    """Those values of the whole, beside the one that is held, that are shown."""
    names = [value for value in among if value != held[key]]
    where = {**{name: [value] for name, value in held.items()}, key: names}
    layout, rows = tables.rows(list(where), metric, where=where, shown_only=True, count=len(names))
    return [pick(layout, row, metric) for row in rows]
