"""What a fleet did, for the person who runs it. Exact: it is their own data, in their own hands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

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
    # Sent, and released before a phone heard of it: most are counted, nobody tells which.
    released: int = 0
    again: int = 0
    given_up: int = 0
    on_their_way: int = 0
    turned_away: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    declined: Counter[str] = field(default_factory=Counter)
    # Bytes of settled queries, from check-in to the last answer: how many had so many.
    up: Counter[int] = field(default_factory=Counter)
    down: Counter[int] = field(default_factory=Counter)
    both: Counter[int] = field(default_factory=Counter)
    # Milliseconds that wake-ups with an update took, by the machine's clock.
    took: Counter[int] = field(default_factory=Counter)
    # Bad updates that hostile phones sent, by kind.
    bad: Counter[str] = field(default_factory=Counter)

    def add(self, did: WakeUp) -> None:
        self.wake_ups += 1
        self.sent += len(did.sent)
        self.counted += did.counted
        self.again += did.again
        self.released += did.released
        self.given_up += did.given_up
        self.turned_away += did.turned_away
        self.unanswered += did.stopped in (BUSY, NO_ANSWER)
        self.refusals.update(did.refusals)
        self.declined.update([did.stopped] if did.stopped.startswith(DECLINED) else [])

    def join(self, other: Report) -> None:
        """What other phones did, in another process."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if isinstance(mine, Counter):
                mine.update(theirs)
            else:
                setattr(self, each.name, mine + theirs)

    def trouble(self) -> str:
        """What the server says most often to those whom it will not answer, if there are any."""
        return "".join(f"; {times:,} × {why}" for why, times in self.declined.most_common(1))

    def lines(self) -> Iterator[str]:
        yield f"{self.phones:,} phones, {self.events:,} events, {self.wake_ups:,} wake-ups"
        if self.dropped:
            yield f"{self.dropped:,} events were not kept: older than their time to live"
        yield (
            f"updates sent: {self.sent:,}, still on their way: {self.on_their_way:,}; "
            f"windows counted: {self.counted:,}, released before word came: {self.released:,}, "
            f"given up: {self.given_up:,}"
        )
        if (again := self.again - self.released) > 0:
            yield f"windows not counted at the first try: {again:,}"
        yield f"turned away: {self.turned_away:,}; without an answer: {self.unanswered:,}"
        yield f"refused by phones: {self.refusals.total():,}"
        yield from (f"  {times:,} × {why}" for why, times in self.refusals.most_common(10))
        yield from (f"{times:,} × {why}" for why, times in self.declined.most_common(5))
        if self.up:
            yield f"bytes per query, p50 and p95: {_span(self.up)} up, {_span(self.down)} down"
            yield f"  both ways together: {_span(self.both)}"
        if self.bad:
            yield f"bad updates sent: {self.bad.total():,}"
            yield from (f"  {times:,} × {kind}" for kind, times in sorted(self.bad.items()))


def percentile(values: Mapping[int, int], share: float) -> int:
    """Of values and how often each occurred: the least that at least this share do not exceed."""
    wanted, seen = share * sum(values.values()), 0
    for value in sorted(values):
        seen += values[value]
        if seen >= wanted:
            return value
    raise ValueError("There are no values.")


def _span(values: Mapping[int, int]) -> str:
    return f"{percentile(values, 0.5):,} and {percentile(values, 0.95):,}"
