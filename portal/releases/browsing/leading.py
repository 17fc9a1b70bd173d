"""A chart in a sentence: which row comes first, whether that is certain, and how it has changed.

That one bar is longer than the next says little where both have noise: this says whether the
difference is larger than the noise of the two, and the same of the change.

Whichever of many comes first has, more likely than not, noise that made it larger. Of ten that are
alike one in eight would so seem to have grown. Growth is therefore called clear only of a row that
is clearly first, or was chosen, or is the only one; that it is less than before needs no such care.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from portal.releases.browsing import words
from portal.releases.browsing.change import Change
from portal.releases.browsing.charting import PER_INHABITANT_WARNING, Chart, Line
from portal.releases.browsing.choosing import View, compared_key
from portal.releases.browsing.history import earlier_period
from portal.releases.browsing.measuring import per_inhabitant
from portal.releases.browsing.share_change import MOVED, POINTS, share_since
from portal.releases.browsing.tables import Tables
from portal.releases.grouping import COUNTRY
from portal.releases.reading import Number

# What a ranking of places says first: about the phones that take part, or about what people do.
PER_INHABITANT = (
    f"This ranks places by who takes part as much as by what people do. {PER_INHABITANT_WARNING}"
)
AMOUNTS = (
    "These are sums over the phones that take part: larger places, and places where more people "
    "take part, rank higher."
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


def leading(chart: Chart, tables: Tables, earlier: Tables | None) -> Leading | None:
    """Nothing where no row comes first: two keys at once, another order, or nothing shown."""
    view = chart.view
    lines = [lines[0] for lines in chart.lines]
    if view.second or not view.by or view.sort != "value" or not lines:
        return None
    if lines[0].number.value is None:
        return None
    is_chosen = view.by in view.where
    others = [] if is_chosen else _others(chart, lines)
    rivals = [one for one, ahead in others if not ahead.is_clear]
    change, said = _since(chart, lines[0].number, tables, earlier)
    by_chance = change is not None and may_be_chance(change, rivals)
    if change and by_chance:
        said = _by_chance(chart, change, earlier_period(tables.shown.release))
    return Leading(
        value=chart.values[0],
        name=chart.labels[0],
        sentence=f"{_first(chart, lines[0], others)}{_certain(chart, others)}",
        change=said,
        is_clear=bool(change and change.is_clear and not by_chance),
    )


def may_be_chance(change: Change, rivals: Sequence[object]) -> bool:
    """Whether a row that grew may have come first, and so have grown, by its noise. Rivals are
    those it is not clearly ahead of."""
    return change.is_clear and change.difference > 0 and bool(rivals)


@dataclass(frozen=True)
class Caveat:
    """What a ranking of places does not say, and the address of one that does."""

    sentence: str
    # Whether it would be read wrongly without.
    is_warning: bool
    query: str
    offer: str


def caveat(view: View, tables: Tables) -> Caveat | None:
    """Nothing where no places are ranked, or where they are by shares, which have none of it."""
    places = (tables.region_key, tables.country_key)
    if not view.by or view.by not in places or view.measure == "share" or view.second:
        return None
    if tables.is_ratio(view.metric):
        return None
    key = compared_key(view.by, view.where, tables)
    query, offer = "", ""
    if key:
        name = tables.name_of(key)(view.where[key])
        query = view.but(measure="share").query
        offer = f"Rank by the share of {name} instead, which does not depend on how many take part"
    is_warning = view.measure == "person"
    return Caveat(PER_INHABITANT if is_warning else AMOUNTS, is_warning, query, offer)


def _others(chart: Chart, lines: Sequence[Line]) -> list[tuple[Line, Change]]:
    """Those below the first that have a number, each with how far the first is ahead of it."""
    # Of one whole, what one part loses another may have won.
    opposed = chart.view.measure == "share" and chart.ranked is None
    first, *below = lines
    compared = [(one, Change.between(one.number, first.number, opposed=opposed)) for one in below]
    return [(one, ahead) for one, ahead in compared if ahead]


def _first(chart: Chart, line: Line, others: Sequence[tuple[Line, Change]]) -> str:
    name, amount = chart.labels[0], words.amount(line.number, chart.unit)
    name = f"{name[:1].upper()}{name[1:]}"
    if chart.view.by in chart.view.where:
        return f"{name}: {amount}."
    if not others:
        return f"{name} is the only one whose number is shown, with {amount}."
    following, _ = others[0]
    unit = "%" if chart.view.measure == "share" else ""
    then = f"{following.names[0]} with {words.amount(following.number, unit)}"
    return f"{name} comes first with {amount}, then {then}."


def _certain(chart: Chart, others: Sequence[tuple[Line, Change]]) -> str:
    """Whether the next may be first as well, or any below it: some have more noise."""
    if not others:
        return ""
    (_, ahead), *below = others
    near = [line for line, distance in below if not distance.is_clear]
    told = words.distance(ahead, POINTS if chart.view.measure == "share" else "")
    between = f" The difference between the two, {told}, is"
    if ahead.is_clear and not near:
        return f"{between} larger than the noise."
    if ahead.is_clear:
        which = near[0].names[0] if len(near) == 1 else f"{len(near)} others"
        return f"{between} larger than the noise; but {which}, with more noise, may be first, too."
    if not near:
        return f"{between} within the noise: either may be first."
    any_of = f"any of these {len(near) + 2} may be first"
    return f"{between} within the noise, as is that of {len(near)} more: {any_of}."


def _since(
    chart: Chart, now: Number, tables: Tables, earlier: Tables | None
) -> tuple[Change | None, str]:
    view = chart.view
    held = {**view.where, view.by: chart.values[0]}
    if view.by == tables.region_key and COUNTRY not in tables.own_keys:
        held.pop(COUNTRY, None)  # the place lies in it anyhow
    if earlier is None or not earlier.has(view.metric, held):
        return None, ""
    than = earlier_period(tables.shown.release)
    if view.measure == "share":
        return share_since(chart, now, held, than, earlier)
    then = earlier.one(view.metric, held)
    if then is None:
        return None, ""
    before = then.number
    if view.measure == "person":
        place = chart.values[0] if view.by == tables.region_key else view.where[tables.region_key]
        before = per_inhabitant(before, place)
    change, name = Change.between(before, now), chart.labels[0]
    if change is None:
        return None, f"Of {than} the number for {name} is not shown: there is no comparison."
    return change, f"For {name} that is {words.compared(change, than, chart.unit)}."


def _by_chance(chart: Chart, change: Change, than: str) -> str:
    is_share = chart.view.measure == "share"
    told = words.difference(change, POINTS if is_share else chart.unit)
    said = (
        f"For {chart.labels[0]} the difference from {than} is {told}; but it may come first by "
        "chance, which would make it look larger than before."
    )
    return f"{said} {MOVED}" if is_share else said
