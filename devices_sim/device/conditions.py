"""Conditions: what a phone is doing just now, as its system tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# Below this, nothing runs, whatever a task asks for.
MIN_BATTERY_PERCENT: Final = 30


@dataclass(frozen=True)
class Conditions:
    idle: bool = True
    unmetered: bool = True
    charging: bool = False
    network: bool = True
    battery_percent: int = 100

    @property
    def missing(self) -> str:
        """What every wake-up needs and this one lacks; empty if nothing."""
        if not self.network:
            return "There is no network."
        if self.battery_percent < MIN_BATTERY_PERCENT:
            return f"The battery is at {self.battery_percent} %, below {MIN_BATTERY_PERCENT} %."
        return ""

    def meet(self, wanted: Sequence[str]) -> bool:
        """Whether a task's own conditions hold; one this phone does not know does not hold."""
        return all(name in _KNOWN and getattr(self, name) for name in wanted)


_KNOWN: Final = frozenset({"idle", "unmetered", "charging"})
