"""A chart in a sentence: which row comes first, whether that is certain, and how it has changed.

That one bar is longer than the next says little where both have noise: this says whether the
difference is larger than the noise of the two, and the same of the change.
"""

from __future__ import annotations

from dataclasses import dataclass

from portal.releases.browsing import words
from portal.releases.browsing.change import Change
from portal.releases.browsing.charting import Chart, Line
from portal.releases.browsing.history import earlier_period
from portal.releases.browsing.measuring import per_inhabitant
from portal.releases.browsing.tables import Tables
from portal.releases.grouping import COUNTRY
from portal.releases.reading import Number

PER_INHABITANT = (
    "Per inhabitant divides by everybody who lives there, while the sum is over phones that took "
    "part: where more people take part, it comes out higher."
)


@dataclass(frozen=True)
class Leading:
    # The value of the key that comes first: a place's id, an activity.
    value: str
    name: str
    sentence: str
    # Compared with the window before; empty if there is none. Whether it is more than noise.
    change: str
    is_clear: bool
    caveat: str


def leading(chart: Chart, tables: Tables, earlier: Tables | None) -> Leading | None:
    """Nothing where no row comes first: two keys at once, another order, or nothing shown."""
    view = chart.view
    lines = [lines[0] for lines in chart.lines]
    if view.second or not view.by or view.sort != "value" or not lines:
        return None
    if lines[0].number.value is None:
        return None
    following = next((one for one in lines[1:] if one.number.value is not None), None)
    change, said = _since(chart, lines[0].number, tables, earlier)
    return Leading(
        value=chart.values[0],
        name=chart.labels[0],
        sentence=_first(chart.labels[0], lines[0], following, chart.unit),
        change=said,
        is_clear=bool(change and change.is_clear),
        caveat=PER_INHABITANT if view.measure == "person" else "",
    )


def _first(name: str, line: Line, following: Line | None, unit: str) -> str:
    amount = words.amount(line.number, unit)
    if following is None:
        return f"{name} is the only one whose number is shown, with {amount}."
    said = f"{name} comes first with {amount}, then {following.names[0]} with "
    said += f"{words.amount(following.number)}."
    difference = Change.between(following.number, line.number)
    if difference is None:
        return said
    between = f"{said} The difference between the two, {words.distance(difference)},"
    if difference.is_clear:
        return f"{between} is larger than the noise."
    return f"{between} is within the noise: either may be first."


def _since(
    chart: Chart, now: Number, tables: Tables, earlier: Tables | None
) -> tuple[Change | None, str]:
    """Shares have no change: whatever else changes moves them."""
    view = chart.view
    held = {**view.where, view.by: chart.values[0]}
    if view.by == tables.region_key and COUNTRY not in tables.own_keys:
        held.pop(COUNTRY, None)  # the place lies in it anyhow
    if earlier is None or view.measure == "share" or not earlier.has(view.metric, held):
        return None, ""
    then = earlier.one(view.metric, held)
    if then is None:
        return None, ""
    before = then.number
    if view.measure == "person":
        place = chart.values[0] if view.by == tables.region_key else view.where[tables.region_key]
        before = per_inhabitant(before, place)
    change, name = Change.between(before, now), chart.labels[0]
    than = earlier_period(tables.shown.release)
    if change is None:
        return None, f"Of {than} the number for {name} is not shown: there is no comparison."
    return change, f"For {name} that is {words.compared(change, than, chart.unit)}."
