"""What a fleet did, for the person who runs it. Exact: it is their own data, in their own hands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from devices_sim.device.wake_up import BUSY, DECLINED, NO_ANSWER, WakeUp


@dataclass
class Report:
    phones: int = 0
    events: int = 0
    # Events that phones did not keep: too old, or not of their stream.
    dropped: int = 0
    wake_ups: int = 0
    sent: int = 0
    # Windows of updates, by what became of them.
    counted: int = 0
    again: int = 0
    given_up: int = 0
    on_their_way: int = 0
    turned_away: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    declined: Counter[str] = field(default_factory=Counter)
    # Bytes of each settled query, up and down: from its check-in to the last answer about it.
    up: list[int] = field(default_factory=list)
    down: list[int] = field(default_factory=list)

    def add(self, did: WakeUp) -> None:
        self.wake_ups += 1
        self.sent += len(did.sent)
        self.counted += did.counted
        self.again += did.again
        self.given_up += did.given_up
        self.turned_away += did.turned_away
        self.unanswered += did.stopped in (BUSY, NO_ANSWER)
        self.refusals.update(did.refusals)
        self.declined.update([did.stopped] if did.stopped.startswith(DECLINED) else [])

    def lines(self) -> Iterator[str]:
        yield f"{self.phones:,} phones, {self.events:,} events, {self.wake_ups:,} wake-ups"
        if self.dropped:
            yield f"{self.dropped:,} events were not kept: older than their time to live"
        yield (
            f"updates sent: {self.sent:,}, still on their way: {self.on_their_way:,}; "
            f"windows counted: {self.counted:,}, not at the first try: {self.again:,}, "
            f"given up: {self.given_up:,}"
        )
        yield f"turned away: {self.turned_away:,}; without an answer: {self.unanswered:,}"
        yield f"refused by phones: {self.refusals.total():,}"
        yield from (f"  {times:,} × {why}" for why, times in self.refusals.most_common(10))
        yield from (f"{times:,} × {why}" for why, times in self.declined.most_common(5))
        if self.up:
            both = [up + down for up, down in zip(self.up, self.down, strict=True)]
            yield f"bytes per query, p50 and p95: {_span(self.up)} up, {_span(self.down)} down"
            yield f"  both ways together: {_span(both)}"


def percentile(values: Sequence[int], share: float) -> int:
    """The smallest value that at least this share of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def _span(values: Sequence[int]) -> str:
    return f"{percentile(values, 0.5):,} and {percentile(values, 0.95):,}"
