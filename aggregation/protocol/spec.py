"""The task spec: the document an analyst writes, a second person approves, and a hash names.

A spec holds what was written, in bounds or not; whether it may run is the compiler's to say.
Read one with `spec_reading.read_spec`, write one with `spec_writing.to_yaml`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec

from aggregation.protocol.anonymization import ClipUncertainty, Mechanism, Suppression
from aggregation.protocol.steps import Norms
from aggregation.protocol.windows import Unit


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all parts of a spec share: immutable, named fields, none unknown."""


class WindowPart(_Part, frozen=True, kw_only=True):
    """The privacy time unit, and how long after its end updates are still counted."""

    unit: Unit
    grace_hours: int = 168


class EligibilityPart(_Part, frozen=True, kw_only=True):
    min_separation_windows: int = 1
    require_events: bool = True
    # A query over `device_facts` only.
    sql: str | None = None


class SchedulePart(_Part, frozen=True, kw_only=True):
    max_runs_per_day: int = 1
    # Of idle, unmetered, charging. Network and 30 % of battery are always required.
    conditions: tuple[str, ...] = ("idle",)


class AggregationPart(_Part, frozen=True, kw_only=True):
    min_contributions: int = 1000
    max_contributions: int = 10_000
    max_session_minutes: int = 60
    # Rows one device may send for one window; the largest are kept.
    max_rows: int = 64


class AnonymizationPart(_Part, frozen=True, kw_only=True):
    # Privacy loss per device and window, in steps of 0.01. A number or its decimal text: 2, 0.5
    # and "0.5" are the same ε.
    epsilon: Decimal
    mechanism: Mechanism
    # What intervals say of clipping; without it they are of the noise alone.
    clip_uncertainty: ClipUncertainty | None = None
    suppression: Suppression = Suppression()


class PublishPart(_Part, frozen=True, kw_only=True):
    # internal or public
    audience: str = "internal"
    # Of the result's columns, those that are shown; all of them if not given.
    columns: tuple[str, ...] | None = None


class Spec(_Part, frozen=True, kw_only=True):
    """One continuous query, with everything that surrounds it."""

    name: str
    description: str = ""
    streams: tuple[str, ...]
    # `all`, the name of a population, or several.
    population: str | tuple[str, ...] = "all"
    window: WindowPart
    # Either these two …
    client_sql: str | None = None
    server_sql: str | None = None
    # … or one nested statement, which is split into them.
    sql: str | None = None
    # A built-in step after the query, for calibration tasks; left out by all others.
    step: Norms | msgspec.UnsetType = msgspec.UNSET
    eligibility: EligibilityPart = EligibilityPart()
    schedule: SchedulePart = SchedulePart()
    aggregation: AggregationPart = AggregationPart()
    anonymization: AnonymizationPart
    publish: PublishPart = PublishPart()
    post_processing: str | None = None

    @property
    def populations(self) -> tuple[str, ...]:
        return (self.population,) if isinstance(self.population, str) else self.population

    def document(self) -> dict[str, Any]:
        """The spec as plain values, every default written out; decimals as their shortest text."""
        plain: dict[str, Any] = with_decimals(self, decimal_text)
        return plain

    def canonical(self) -> bytes:
        """The one spelling of this spec: JSON, sorted fields, defaults written out, no spaces."""
        return msgspec.json.encode(self.document(), order="sorted")

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.canonical()).hexdigest()


def with_decimals(value: Any, written: Callable[[Decimal], Any]) -> Any:
    """Plain values, with decimals as `written` has them."""
    match value:
        case Decimal():
            return written(value)
        case dict():
            return {str(name): with_decimals(inner, written) for name, inner in value.items()}
        case list():
            return [with_decimals(inner, written) for inner in value]
        case msgspec.Struct():
            plain = msgspec.to_builtins(value, str_keys=True, builtin_types=(Decimal,))
            return with_decimals(plain, written)
    return value


def decimal_text(value: Decimal) -> str:
    """0.50 → 0.5, 2.00 → 2, 1E+1 → 10: one text per number."""
    if not value.is_finite() or abs(value.adjusted()) > 30:
        return str(value)
    shown = format(value, "f")
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
