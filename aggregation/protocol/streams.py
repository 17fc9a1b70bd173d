"""Streams: named on-device tables with a declared schema, and the catalog of those installed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal
from uuid import uuid4

import msgspec

from aggregation.errors import Problem
from aggregation.protocol.domains import Domain

Type = Literal["text", "integer", "real", "time"]


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One column of a stream. Only a column with a domain can be a key of a result."""

    name: str
    type: Type
    description: str
    # What the number counts, such as km; empty for text.
    unit: str = ""
    # Hash of the closed set of values this column may take.
    domain: str | None = None
    nullable: bool = False
    # The smallest value an event may carry; smaller ones are not recorded.
    minimum: float | None = None
    # What most events have: a hint for people and for previews, never a bound.
    typical: tuple[float, float] | None = None
    # Set by the device's runtime, not by the event.
    stamped: bool = False
    # `event_time` places an event in its window; no query may read it.
    queryable: bool = True


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """A named on-device table. Its name and columns are part of the contract with devices."""

    name: str
    title: str
    description: str
    # Events older than this are purged from the device.
    ttl_days: int
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column | None:
        return next((c for c in self.columns if c.name == name), None)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


HOURS = Domain(range(24))
WEEKDAYS = Domain(range(7))

EVENT_TIME = Column(
    name="event_time",
    type="time",
    queryable=False,
    description="When the event happened. It places the event in its window; no query can read it.",
)

STAMPED = (
    Column(
        name="privacy_time_unit",
        type="text",
        stamped=True,
        description="Id of the window the event lies in, stamped by the device.",
    ),
    Column(
        name="hour_of_day",
        type="integer",
        unit="h",
        domain=HOURS.sha256,
        stamped=True,
        description="Hour of the event in its local civil time, 0 to 23.",
    ),
    Column(
        name="day_of_week",
        type="integer",
        domain=WEEKDAYS.sha256,
        stamped=True,
        description="Day of the event in its local civil time, Monday is 0 and Sunday 6.",
    ),
)


class Catalog:
    """The streams installed here with their domains: in memory, or in a folder of files."""

    def __init__(self, streams: dict[str, Stream], domains: dict[str, Domain]) -> None:
        self._streams = dict(sorted(streams.items()))  # the order of the file
        self._domains = domains

    @classmethod
    def open(cls, folder: Path) -> Catalog:
        try:
            text = (folder / "catalog.json").read_bytes()
        except FileNotFoundError:
            raise Problem(
                f"No streams are installed in {folder}.",
                hint="Run `manage.py install_streams`.",
            ) from None
        try:
            streams = msgspec.json.decode(text, type=dict[str, Stream])
        except msgspec.DecodeError:
            raise Problem(
                f"The file {folder / 'catalog.json'} is damaged.",
                hint="Run `manage.py install_streams`: it builds what is damaged again.",
            ) from None
        hashes = {c.domain for s in streams.values() for c in s.columns if c.domain}
        domains = {h: Domain.open(folder / "domains" / f"{h}.npy", sha256=h) for h in hashes}
        return cls(streams, domains)

    def write(self, folder: Path) -> None:
        (folder / "domains").mkdir(parents=True, exist_ok=True)
        for domain in self._domains.values():
            domain.write(folder / "domains")
        temporary = folder / f"catalog.json.{uuid4().hex}.new"
        temporary.write_bytes(msgspec.json.encode(self._streams, order="sorted"))
        temporary.replace(folder / "catalog.json")

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(msgspec.json.encode(self._streams, order="sorted")).hexdigest()

    def __iter__(self) -> Iterator[Stream]:
        return iter(self._streams.values())

    def __contains__(self, name: object) -> bool:
        return name in self._streams

    def stream(self, name: str) -> Stream | None:
        return self._streams.get(name)

    def domain(self, sha256: str) -> Domain:
        return self._domains[sha256]
