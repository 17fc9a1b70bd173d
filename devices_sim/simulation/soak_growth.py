"""Growth: which tables may become larger with the weeks, and why; everything else may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

# By table: what it is the record of, for good.
MAY_GROW: Final = {
    "audit_entry": "every change of state, for ever",
    "releases_release": "the noised numbers of each window",
    "releases_rendering": "the signed manifest of each release",
    "tasks_taskwindow": "each window, and why it was skipped",
    "tasks_revision": "what was submitted and approved",
    "tasks_task": "each task",
    "tasks_draft": "its draft",
    "tasks_editor": "who wrote in it",
    "tasks_comment": "what was said on it",
    "ledger_charge": "what each window cost",
    "ledger_week": "what each week cost",
    "collection_reach": "how many took part, coarse, for each release",
    "collection_session": "which sessions releases are made of",
    "collection_hold": "which windows they held",
    "collection_handover": "who took over from whom; no ids once it is over",
    "collection_partial": "which partials there were; no bodies once it is over",
    "collection_fleetcount": "counts of calls by week, for 53 weeks",
    "notifications_event": "what people were told of, for 26 weeks",
    "notifications_notification": "whom, for as long",
    "notifications_delivery": "by which e-mails, for as long",
    "exact_counts_seen": "what this account is made of; only in a simulation",
    "notifications_email": "the newest 500 e-mails of the demo",
}
# A table that is not in the list may be larger by so many bytes, or by this factor.
_SLACK_BYTES, _SLACK = 32_768, 1.4
# Memory of a process may grow by so much from the first quarter to the last.
_FAT_KILOBYTES, _FAT = 16_000, 1.15
_WARM_WEEKS, _FEWEST_WEEKS = 3, 8


def swollen(sizes: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """Tables that are larger at the end than in the middle, and have no reason to be."""
    weeks = sorted(sizes)
    if len(weeks) < 3:
        return []
    first, last = sizes[weeks[len(weeks) // 2]]["tables"], sizes[weeks[-1]]["tables"]
    return [
        table
        for table, size in sorted(last.items())
        if table not in MAY_GROW
        and size["bytes"] > _SLACK * first.get(table, {"bytes": 0})["bytes"] + _SLACK_BYTES
    ]


@dataclass(frozen=True)
class Memory:
    """Of one process: kilobytes in the middle of the first quarter, and of the last."""

    first: float
    last: float

    @property
    def grows(self) -> bool:
        return self.last > max(_FAT * self.first, self.first + _FAT_KILOBYTES)


def memory_growth(memory: Mapping[int, Mapping[str, int]]) -> dict[str, Memory]:
    """The first weeks are left out: caches fill, code is loaded. Few weeks tell nothing."""
    weeks = sorted(memory)[_WARM_WEEKS:]
    if len(weeks) < _FEWEST_WEEKS:
        return {}
    quarter = len(weeks) // 4
    return {
        name: Memory(
            median(memory[week].get(name, 0) for week in weeks[:quarter]),
            median(memory[week].get(name, 0) for week in weeks[-quarter:]),
        )
        for name in sorted(memory[weeks[-1]])
    }


def growth(sizes: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """By table, largest first: bytes and rows at each week that was measured."""
    if not sizes:
        return []
    last = sizes[max(sizes)]["tables"]
    return [
        {
            "table": table,
            "why": MAY_GROW.get(table, ""),
            "bytes": {week: _of(sizes[week], table, "bytes") for week in sorted(sizes)},
            "rows": {week: _of(sizes[week], table, "rows") for week in sorted(sizes)},
        }
        for table in sorted(last, key=lambda table: -last[table]["bytes"])
    ]


def sizes_of(sizes: Mapping[int, Mapping[str, Any]]) -> Iterator[str]:
    weeks = sorted(sizes)
    yield "kilobytes by table, at the beginning of a week:"
    yield f"  {'':<28}" + "".join(f"{week:>8}" for week in weeks) + "  grows, because it keeps"
    for row in growth(sizes):
        numbers = "".join(f"{row['bytes'][week] / 1000:>8,.0f}" for week in weeks)
        if max(row["bytes"].values()) > 20_000 or row["why"]:
            yield f"  {row['table']:<28}{numbers}  {row['why']}"
    for what in ("release files", "log files", "keys", "valkey"):
        numbers = "".join(f"{sizes[week].get(what, 0) / 1000:>8,.0f}" for week in weeks)
        yield f"  {what:<28}{numbers}"


def _of(measured: Mapping[str, Any], table: str, what: str) -> int:
    return int(measured["tables"].get(table, {}).get(what, 0))
