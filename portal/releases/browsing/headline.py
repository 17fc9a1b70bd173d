"""A release in sentences: how much, compared with the window before, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aggregation.protocol.steps import DEVICES
from portal.releases.browsing import words
from portal.releases.browsing.best import first_view
from portal.releases.browsing.change import Change
from portal.releases.browsing.history import earlier_period, period
from portal.releases.browsing.tables import Found, Tables
from portal.releases.browsing.units import counted, spoken

_VERBS = {
    "distance_km": "travelled {amount}",
    "num_trips": "made {amount} trips",
    "duration_min": "spent {amount} on the way",
    "co2e_kg": "emitted {amount}",
    # Of a calibration.
    DEVICES: "took part with {amount} phones, each counted once, by how much it has",
}
_WITH_ACTIVITY = {
    "distance_km": "{did} {amount}",
    "num_trips": "made {amount} trips by {activity}",
    "duration_min": "spent {amount} {activity}",
    "co2e_kg": "emitted {amount} by {activity}",
    DEVICES: "had {amount} phones counted by how much {activity} they have",
}


@dataclass(frozen=True)
class Headline:
    """One metric, said."""

    metric: str
    sentence: str
    sure: str
    change: Change | None
    is_shown: bool


def headline(
    metric: str,
    tables: Tables,
    earlier: Tables | None,
    *,
    where: Mapping[str, str] | None = None,
    place: str = "",
) -> Headline:
    """What people did, in words. `where` holds keys at values, `place` names the place in it."""
    held = dict(where or {})
    now = tables.one(metric, held)
    who = f"people in {place}" if place else "people"
    who += _held_at(tables, held, has_place=bool(place))
    when = period(tables.shown.release)
    start = f"{when[0].upper()}{when[1:]}"
    if now is None or now.number.value is None:
        why = now.suppressed if now else "This release has no such row."
        name = spoken(metric, tables.unit(metric))
        where_ = f" of {who}" if who != "people" else ""
        sentence = f"{start} the number for {name}{where_} is not shown. {why}"
        return Headline(metric, sentence, "", None, is_shown=False)
    if now.number.value == 0 and now.number.half_width == 0:
        # No noise can leave that: it was multiplied by a factor of 0.
        unit = tables.unit(metric)
        nothing = f"{start} {who} had 0 {unit} of {spoken(metric, unit)}: the factor for it is 0."
        return Headline(metric, nothing, "", None, is_shown=True)
    said = f"{start} {who} {_did(metric, tables, held, now)}"
    change = _change(metric, earlier, held, now)
    if earlier is not None and metric in earlier.metrics:
        unit = counted(metric, tables.unit(metric))
        said += f", {words.compared(change, earlier_period(tables.shown.release), unit)}"
    sure = words.how_sure(now.number, "ratio" if tables.is_ratio(metric) else "sum")
    return Headline(metric, said + ".", sure, change, is_shown=True)


def of_places(
    tables: Tables, earlier: Tables | None, metric: str = "", count: int = 3
) -> list[Headline]:
    """The largest numbers that are shown of single places, or of single values of another key
    where sums over places are shown by it, in words."""
    view = first_view(tables, metric)
    if not view.by:
        return []
    if not metric:
        metric = "distance_km" if "distance_km" in tables.metrics else view.metric
    held = {key: [value] for key, value in view.where.items()}
    layout, rows = tables.rows(
        [view.by, *held], metric, where=held, shown_only=True, sort=metric, count=count
    )
    at, name = layout.keys.index(view.by), tables.name_of(view.by)
    is_place = view.by in (tables.region_key, tables.country_key)
    return [
        headline(
            metric,
            tables,
            earlier,
            where={view.by: str(row.keys[at]), **view.where},
            place=name(row.keys[at]) if is_place else "",
        )
        for row in rows
    ]


def _held_at(tables: Tables, held: Mapping[str, str], *, has_place: bool) -> str:
    """` (direction: inbound)`: what is held beside the place and the activity, which the rest of
    a sentence names. Without it a part would read as the whole."""
    named = {"activity"}
    if has_place:
        named |= {tables.region_key, tables.country_key}
    rest = [
        f"{key.replace('_', ' ')}: {tables.name_of(key)(value)}"
        for key, value in held.items()
        if key not in named
    ]
    return f" ({', '.join(rest)})" if rest else ""


def _did(metric: str, tables: Tables, held: Mapping[str, str], now: Found) -> str:
    unit, activity = tables.unit(metric), held.get("activity", "")
    amount = words.amount(now.number, "" if metric in ("num_trips", DEVICES) else unit)
    verbs = _WITH_ACTIVITY if activity else _VERBS
    if metric not in verbs:
        rest = f", {activity}" if activity else ""
        return f"had {spoken(metric, unit)} of {amount}{rest}"
    return verbs[metric].format(amount=amount, activity=activity, did=words.did(activity))


def _change(
    metric: str, earlier: Tables | None, held: Mapping[str, str], now: Found
) -> Change | None:
    if earlier is None or not earlier.has(metric, held):
        return None
    then = earlier.one(metric, held)
    return Change.between(then.number, now.number) if then else None
