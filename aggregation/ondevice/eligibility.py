"""Eligibility: decided on the device, over facts about the device, and told to no one.

A query over `device_facts` can see that one row and nothing of any stream, so it cannot be an
oracle about events; its answer is used in the check-in at hand and then forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from aggregation.ondevice.sandbox import QueryFailed, Sandbox, Table
from aggregation.protocol.client_task import Eligibility
from aggregation.protocol.device_facts import COLUMNS, TABLE, DeviceFacts


@dataclass(frozen=True)
class Eligible:
    pass


@dataclass(frozen=True)
class NotEligible:
    """Why this device sits this one out: for its owner's eyes, on the device."""

    reason: str


def decide(criteria: Eligibility, facts: DeviceFacts) -> Eligible | NotEligible:
    """Whether a device should ask for an assignment of this task now."""
    since = facts.windows_since_contribution
    if facts.windows_waiting < 1:
        return NotEligible("No complete window is waiting.")
    if since is not None and since < criteria.min_separation_windows:
        return NotEligible(
            f"It contributed {since} windows ago; the task asks for "
            f"{criteria.min_separation_windows} in between."
        )
    if criteria.require_events and not facts.events_waiting:
        return NotEligible("No event lies in the windows that are waiting.")
    if criteria.sql is not None and not _says_yes(criteria.sql, facts):
        return NotEligible("The task's own condition on device_facts does not hold.")
    return Eligible()


_FACTS = Table(TABLE, dict.fromkeys(COLUMNS, "INTEGER"))


@lru_cache(maxsize=64)
def _sandbox(sql: str) -> Sandbox:
    return Sandbox([_FACTS], sql, max_rows=1)


def _says_yes(sql: str, facts: DeviceFacts) -> bool:
    """One column, at most one row: yes if it holds a number other than zero. Errors are a no."""
    row = tuple(getattr(facts, column) for column in COLUMNS)
    try:
        found = _sandbox(sql).run({TABLE: [row]}, columns=1)
    except QueryFailed:
        return False
    return any(type(answer) in (int, float) and answer != 0 for (answer,) in found)
