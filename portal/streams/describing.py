"""What a stream is, for people: one description feeds the pages and the API."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from aggregation.protocol.domains import Domain, Value
from aggregation.protocol.streams import Catalog, Column, Stream

# Domains up to this size are written out wherever they are mentioned.
FEW = 9

DEVICE_FACTS = {
    "windows_waiting": "Complete windows of the task that the device has not processed yet.",
    "events_waiting": "1 when any event lies in those windows, else 0: never how many.",
    "windows_since_contribution": (
        "Windows since the last one the device contributed to; empty if it never did."
    ),
    "runtime_version": "Version of the software on the device that runs tasks.",
    "install_age_days": "Days since the app was installed.",
}


@dataclass(frozen=True)
class ColumnFacts:
    """A column, the values it may take, and what a query can do with it."""

    column: Column
    domain: Domain | None

    @property
    def size(self) -> int | None:
        return None if self.domain is None else len(self.domain)

    @cached_property
    def few_values(self) -> tuple[Value, ...]:
        """The values themselves, where there are few."""
        return tuple(self.domain) if self.domain and len(self.domain) <= FEW else ()

    @property
    def is_key(self) -> bool:
        """Only what takes one of a closed set of values can name a cell of a result."""
        return self.domain is not None or self.column.name == "privacy_time_unit"

    @property
    def is_measure(self) -> bool:
        numeric = self.column.type in ("real", "integer")
        return numeric and self.column.queryable and not self.column.stamped

    @property
    def use(self) -> str:
        """How a query may use the column."""
        if not self.column.queryable:
            return "Cannot be read"
        uses = [word for word, ok in (("group by", self.is_key), ("sum", self.is_measure)) if ok]
        return " or ".join(uses).capitalize()

    @property
    def why_hidden(self) -> str:
        if self.column.queryable:
            return ""
        return (
            "A moment could single out a person; queries read the window, the hour and the weekday "
            "that the device stamps instead."
        )


@dataclass(frozen=True)
class StreamFacts:
    stream: Stream
    columns: tuple[ColumnFacts, ...]

    @classmethod
    def of(cls, stream: Stream, catalog: Catalog) -> "StreamFacts":
        domains = {c.domain: catalog.domain(c.domain) for c in stream.columns if c.domain}
        facts = (ColumnFacts(c, domains[c.domain] if c.domain else None) for c in stream.columns)
        return cls(stream, tuple(facts))

    def column(self, name: str) -> ColumnFacts | None:
        return next((facts for facts in self.columns if facts.column.name == name), None)

    @property
    def recorded(self) -> list[ColumnFacts]:
        return [f for f in self.columns if not f.column.stamped]

    @property
    def stamped(self) -> list[ColumnFacts]:
        return [f for f in self.columns if f.column.stamped]

    @property
    def keys(self) -> list[ColumnFacts]:
        return [f for f in self.recorded if f.is_key]

    @property
    def measures(self) -> list[ColumnFacts]:
        return [f for f in self.recorded if f.is_measure and not f.is_key]

    @property
    def cells(self) -> int:
        """How many cells a result by all keys has; a country follows from its region."""
        sizes = [f.size or 1 for f in self.keys if f.column.name != "country"]
        return prod(sizes)

    @property
    def example_sql(self) -> str:
        """A query that a device could run, to begin with."""
        key = max((f for f in self.keys if f.few_values), key=lambda f: f.size or 0).column.name
        measure, table = self.measures[0].column.name, self.stream.name
        return (
            f"SELECT {key}, privacy_time_unit,\n"
            f"       COUNT(*) AS events, SUM({measure}) AS {measure}\n"
            f"FROM {table}\n"
            f"GROUP BY {key}, privacy_time_unit"
        )
