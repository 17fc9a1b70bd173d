"""A preview with the installed streams: invented phones in real places."""

from collections.abc import Iterator, Sequence
from typing import Any

from aggregation.compiler import Compiled
from aggregation.errors import Problem
from portal.clock import civil_clock
from portal.streams import selectors as streams
from portal.tasks.preview import Preview, preview


def preview_now(compiled: Compiled) -> Preview:
    """In the last complete window before now."""
    catalog, now = streams.installed_catalog(), civil_clock().now()
    return preview(compiled, catalog, now=now, country_of=_country_of)


def place_names(compiled: Compiled, shown: Preview) -> dict[Any, str]:
    """Names of the regions in a preview: few, since its phones are in few places."""
    keys = [
        at
        for at, key in enumerate(compiled.client_task.keys)
        if key.values is None and _kind(key.domain) == "regions"
    ]
    rows: list[Sequence[Any]] = [row.keys for device in shown.devices for row in device.rows]
    rows += shown.result.rows if shown.result else ()
    ids = {row[at] for at in keys for row in rows} | set(_in_events(shown))
    found = {value: streams.place(value) for value in ids}
    return {value: place.name for value, place in found.items() if place}


def _in_events(shown: Preview) -> Iterator[Any]:
    """Regions that the invented phones' events are in."""
    for device in shown.devices:
        for stream, table in device.events.items():
            facts = streams.stream(stream)
            for at, column in enumerate(table.columns):
                found = facts.column(column) if facts else None
                if found and found.column.domain and _kind(found.column.domain) == "regions":
                    yield from (row[at] for row in table.rows)


def _kind(domain: str) -> str:
    try:
        return streams.kind_of_domain(domain)
    except Problem:
        return "plain"  # streams without a file of places


def _country_of(region: str) -> str | None:
    try:
        place = streams.place(region)
    except Problem:
        return None  # streams without a file of places
    return place.country if place else None
