"""The client task: everything a device runs for one revision, and nothing an analyst wrote as text.

It is canonical JSON named by its hash, signed at approval, immutable and cacheable. A device
that holds it knows what it will compute, how it will bound it, and what ε that costs.
"""

from __future__ import annotations

import hashlib

import msgspec

from aggregation.protocol.anonymization import Mechanism
from aggregation.protocol.domains import Domain, Value
from aggregation.protocol.steps import BUCKET, BUCKETS, DEVICES, METRIC, Norms, SliceNorms
from aggregation.protocol.windows import Unit


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A grouping column of the result, with the closed set of its values."""

    name: str
    # Hash of the domain; the device has the domain with its stream, unless `values` carries it.
    domain: str
    count: int
    # The whole domain, for keys made by a CASE over literals.
    values: tuple[Value, ...] | None = None


class Eligibility(msgspec.Struct, frozen=True, kw_only=True):
    """When a device need not run the task at all; decided on the device, answered to no one."""

    min_separation_windows: int
    require_events: bool
    # Canonical SQLite over `device_facts`, or nothing.
    sql: str | None = None


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    max_runs_per_day: int
    # Of idle, unmetered, charging. Network and 30 % of battery are always required.
    conditions: tuple[str, ...]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What a device makes of its query's result before bounding it: its norms, in buckets.

    The task's own keys and metrics are those of what the step makes; a device refuses others.
    """

    # Of the query's result.
    keys: tuple[Key, ...]
    metrics: tuple[str, ...]
    norms: Norms

    @property
    def made_keys(self) -> tuple[Key, ...]:
        """For norms of slices the slice's keys, the metric and the bucket; else the bucket."""
        buckets = _key(BUCKET, tuple(range(BUCKETS)))
        if not isinstance(self.norms, SliceNorms):
            return (buckets,)
        own = {key.name: key for key in self.keys}
        return (*(own[name] for name in self.norms.by), _key(METRIC, self.metrics), buckets)

    @property
    def made_metrics(self) -> tuple[str, ...]:
        return (DEVICES,)


def _key(name: str, values: tuple[Value, ...]) -> Key:
    return Key(name=name, domain=Domain(values).sha256, count=len(values), values=values)


def digest_of_name(name: str) -> str:
    """A task's name as devices see it: nothing that an analyst wrote as prose leaves the portal."""
    return hashlib.sha256(name.encode()).hexdigest()


class ClientTask(msgspec.Struct, frozen=True, kw_only=True):
    """One revision's work on a device."""

    version: int = 1
    # Of its name (`digest_of_name`): two tasks that ask the same have two client tasks, each
    # approved, charged and answered apart.
    task: str
    # Stream → the columns the query reads: nothing else is loaded into the query's database.
    reads: dict[str, tuple[str, ...]]
    # Stream → hash of its declared schema.
    streams: dict[str, str]
    populations: tuple[str, ...]
    window_unit: Unit
    # Canonical SQLite; its columns are the keys, `privacy_time_unit`, then the metrics: those of
    # the step, where there is one.
    sql: str
    # Cell rank = mixed radix over these keys' indices, the first key most significant.
    keys: tuple[Key, ...]
    metrics: tuple[str, ...]
    # Decimal text, so that it means the same everywhere.
    epsilon: str
    mechanism: Mechanism
    max_rows: int
    eligibility: Eligibility
    schedule: Schedule
    # Left out by tasks that have none, whose bytes are what they were before there were steps.
    step: Step | msgspec.UnsetType = msgspec.UNSET

    @property
    def cells(self) -> int:
        """How many cells the keys declare; each has one value per metric."""
        total = 1
        for key in self.keys:
            total *= key.count
        return total

    def canonical(self) -> bytes:
        return msgspec.json.encode(self, order="sorted")

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.canonical()).hexdigest()
