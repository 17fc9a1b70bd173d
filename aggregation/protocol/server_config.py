"""The server config: how one revision's updates are summed, noised, derived and published."""

from __future__ import annotations

import hashlib

import msgspec

from aggregation.protocol.anonymization import ClipUncertainty, Mechanism, Suppression
from aggregation.protocol.client_task import Key
from aggregation.protocol.windows import Unit


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """A published column computed from noised sums: numerator / denominator × factor."""

    name: str
    numerator: str
    denominator: str
    factor: float = 1.0


class Aggregation(msgspec.Struct, frozen=True, kw_only=True):
    """How large a session grows, and below which size a sum may wait only in memory."""

    min_contributions: int
    max_contributions: int
    max_session_minutes: int


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One revision's work on the server."""

    version: int = 1
    # Hash of the client task whose updates this config sums.
    client_task: str
    streams: tuple[str, ...]
    window_unit: Unit
    grace_hours: int
    keys: tuple[Key, ...]
    # Every summed coordinate, in the order of an update's values.
    metrics: tuple[str, ...]
    # Of the metrics, those that exist only to derive another column.
    hidden: tuple[str, ...] = ()
    derived: tuple[Derived, ...] = ()
    max_rows: int
    aggregation: Aggregation
    epsilon: str
    mechanism: Mechanism
    clip_uncertainty: ClipUncertainty | None = None
    suppression: Suppression
    audience: str
    publish_columns: tuple[str, ...] | None = None
    post_processing: str | None = None

    def canonical(self) -> bytes:
        return msgspec.json.encode(self, order="sorted")

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.canonical()).hexdigest()
