"""Invented devices for a preview: events drawn from the streams' schemas, the same every time.

Nothing here comes from a device. Values are drawn from the domains and typical ranges that the
streams declare; columns with many values use a few of them, so that devices meet in a cell.
"""

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property

from aggregation.ondevice.events import Event, event_columns
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.domains import Domain, Value
from aggregation.protocol.streams import Catalog, Column, Stream
from aggregation.protocol.windows import Window

Cell = str | int | float | None
# Gives the country of a region, where both are columns of one stream.
CountryOf = Callable[[str], str | None]

_FEW = 40
_POOL = 6
_MOST_EVENTS = 14
_LITERAL = re.compile(r"'((?:[^']|'')*)'")


class Synthetic:
    """A crowd of invented devices with events in one window."""

    def __init__(
        self, task: ClientTask, catalog: Catalog, window: Window, *, country_of: CountryOf
    ) -> None:
        self._streams = [s for s in map(catalog.stream, task.reads) if s is not None]
        self._catalog = catalog
        self._window = window
        self._country_of = cache(country_of)
        # The same crowd while one edits: what changes in the preview is the task's doing.
        self._seed = f"{sorted(task.reads)}/{window.unit}"
        self._sql = task.sql
        self._pools: dict[str, Sequence[Value]] = {}

    def events(self, device: int) -> Mapping[str, list[Event]]:
        rng = random.Random(f"{self._seed}/{device}")  # noqa: S311 - invented data
        return {stream.name: self._of(stream, rng) for stream in self._streams}

    def _of(self, stream: Stream, rng: random.Random) -> list[Event]:
        columns = [stream.column(name) for name in event_columns(stream)]
        count = max(0, round(rng.triangular(-1, _MOST_EVENTS, 5)))
        home = {c.name: self._home(c, rng) for c in columns if c is not None and c.domain}
        made = [self._event([c for c in columns if c is not None], home, rng) for _ in range(count)]
        return sorted(made, key=lambda event: event.time)

    def _event(
        self, columns: list[Column], home: dict[str, Sequence[Value]], rng: random.Random
    ) -> Event:
        values = {c.name: _drawn(c, home.get(c.name), rng) for c in columns}
        if isinstance(region := values.get("region"), str) and "country" in values:
            values["country"] = self._country_of(region) or values["country"]
        start, end = self._window.start.timestamp(), self._window.end.timestamp()
        return Event(start + rng.random() * (end - start), 0, tuple(values.values()))

    def _home(self, column: Column, rng: random.Random) -> Sequence[Value]:
        """What one device's events take: all of a small domain, two values of a large one."""
        pool = self._pool(column)
        few = len(self._catalog.domain(column.domain or "")) <= _FEW
        return pool if few else rng.sample(pool, min(2, len(pool)))

    def _pool(self, column: Column) -> Sequence[Value]:
        domain = column.domain or ""
        if domain not in self._pools:
            self._pools[domain] = self._chosen(self._catalog.domain(domain))
        return self._pools[domain]

    def _chosen(self, domain: Domain) -> Sequence[Value]:
        """Values that the query itself names come first, so that its filters find something."""
        if len(domain) <= _FEW:
            return list(domain)
        named = [value for value in self._literals if value in domain][:_POOL]
        step = max(1, min(len(domain), 400) // _POOL)
        return [*named, *(domain[at * step] for at in range(_POOL - len(named)))]

    @cached_property
    def _literals(self) -> list[str]:
        return [text.replace("''", "'") for text in _LITERAL.findall(self._sql)]


def _drawn(column: Column, values: Sequence[Value] | None, rng: random.Random) -> Cell:
    if column.nullable and rng.random() < 0.3:
        return None
    if values:
        # The first values of a domain are the more usual ones.
        return values[min(int(rng.expovariate(2.5 / len(values))), len(values) - 1)]
    low, high = column.typical or (column.minimum or 0.0, 100.0)
    if column.type == "integer":
        return rng.randint(round(low), round(high))
    return round(math.exp(rng.uniform(math.log(max(low, 0.01)), math.log(max(high, 0.02)))), 1)
