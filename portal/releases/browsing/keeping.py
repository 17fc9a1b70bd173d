"""What stays chosen on the way to another page of a release: all that the other page understands.

A chart, a map and a table are asked for in different words. What they have in common is the metric,
the values that keys are held at, and the country that is looked into.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.http import QueryDict

from aggregation.errors import Problem
from portal.releases.browsing.choosing import country_of, field_name, usual_key
from portal.releases.browsing.tables import Tables
from portal.releases.filtering import PAGE, SORT

CHART, MAP, TABLE = "release", "release_map", "release_table"


@dataclass(frozen=True)
class Chosen:
    """What one page was asked for, in no page's words."""

    metric: str = ""
    # Values of keys that are no countries, and the country.
    held: Mapping[str, str] = field(default_factory=dict)
    country: str = ""
    # What rows are by; empty where the page has no say in it.
    by: tuple[str, ...] = ()
    is_share: bool = False


def kept(page: str, asked: QueryDict, tables: Tables) -> dict[str, str]:
    """For each page its query; `same` is for the same page of another window."""
    same = asked.copy()
    same.pop(PAGE, None)
    if not same:
        return {}
    try:
        return {"same": same.urlencode(), **_elsewhere(page, asked, same, tables)}
    except Problem:  # no list of places, or a file that is being made again
        return {"same": same.urlencode()}


def _elsewhere(page: str, asked: QueryDict, same: QueryDict, tables: Tables) -> dict[str, str]:
    chosen = _chosen(page, asked, tables)
    return {
        CHART: same.urlencode() if page == CHART else _chart(chosen, tables),
        MAP: same.urlencode() if page == MAP else _map(chosen, tables),
        TABLE: same.urlencode() if page == TABLE else _table(chosen, tables),
        "compare": _compare(chosen, tables),
    }


def _chosen(page: str, asked: QueryDict, tables: Tables) -> Chosen:
    metric = asked.get("metric", "")
    if page == TABLE:
        metric = asked.get(SORT, "").removeprefix("-")
    names = {key: key if page == TABLE else field_name(key) for key in tables.keys}
    found = {key: asked.getlist(name) for key, name in names.items()}
    # A table can hold several values of a key, other pages one.
    held = {key: v[0].strip() for key, v in found.items() if len(v) == 1 and v[0].strip()}
    within = asked.get("within", "")
    # A part of the world is no country, though its name may begin one's.
    country = held.pop(tables.country_key, "") or (within if len(within) == 2 else "")
    return Chosen(
        metric=metric if metric in tables.metrics else "",
        held=held,
        country=_country(country),
        by=_by(page, asked, tables),
        is_share=asked.get("measure") == "share" or asked.get("colour") == "share",
    )


def _country(text: str) -> str:
    """Its code; empty for what names none."""
    try:
        return country_of(text) if text else ""
    except Problem:
        return ""


def _by(page: str, asked: QueryDict, tables: Tables) -> tuple[str, ...]:
    if page == CHART:
        named = (asked.get("by") or usual_key(tables), asked.get("second", ""))
        return tuple(key for key in named if key in tables.keys)
    if page == MAP:
        return tuple(key for key in (tables.region_key or tables.country_key,) if key)
    file = tables.shown.file(asked.get("table", ""))
    return tables.shown.layout(file).keys if file else ()


def _chart(chosen: Chosen, tables: Tables) -> str:
    by = next((key for key in chosen.by if key not in chosen.held), "")
    country = {tables.country_key: chosen.country} if by != tables.country_key else {}
    said = {"metric": chosen.metric, "by": by, **_named({**chosen.held, **country})}
    return _query({**said, "measure": "share" if chosen.is_share and chosen.held else ""})


def _map(chosen: Chosen, tables: Tables) -> str:
    held = {key: v for key, v in chosen.held.items() if key != tables.region_key}
    colour = "share" if chosen.is_share and held else ""
    said = {"metric": chosen.metric, **_named(held), "within": chosen.country, "colour": colour}
    return _query(said)


def _table(chosen: Chosen, tables: Tables) -> str:
    """The one with just these keys, the largest of the metric first."""
    held = {**chosen.held, **({tables.country_key: chosen.country} if chosen.country else {})}
    keys = list(dict.fromkeys([*chosen.by, *held]))
    if tables.region_key in keys and tables.country_key not in tables.own_keys:
        keys = [key for key in keys if key != tables.country_key]
    metric = chosen.metric or tables.metrics[0]
    try:
        table = tables.file(keys, metric).name if keys else ""
    except Problem:  # no table has these keys
        return _query(_named(held))
    sort = f"-{chosen.metric}" if chosen.metric else ""
    return _query({"table": table, **_named(held), SORT: sort})


def _compare(chosen: Chosen, tables: Tables) -> str:
    place = chosen.held.get(tables.region_key, "") or chosen.country
    return _query({"metric": chosen.metric, "place": place})


def _named(held: Mapping[str, str]) -> dict[str, str]:
    return {field_name(key): value for key, value in held.items() if key}


def _query(said: Mapping[str, str]) -> str:
    return urlencode({name: value for name, value in said.items() if value})
