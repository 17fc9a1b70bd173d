"""What became of one scenario's phones, as a line of the table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.faults.scenario import Scenario


@dataclass(frozen=True)
class Account:
    fault: str
    phones: int
    uploads: int
    # Of processes that ended without warning: SIGKILL, or a PostgreSQL that was stopped at once.
    kills: int
    # Phones whose cell holds more than one of them.
    counted_twice: int
    # Phones with a receipt, or that were told so, and whose cell is empty.
    lost_after_flush: int
    # Phones whose update went down with a session or a queue, and those of them in the release.
    went_down: int
    recovered: int
    counted: int
    # Phones that had to send again although no session of theirs had died.
    dropped: int
    # How often the log says that the window was released.
    releases: int
    growth_mb: float

    @classmethod
    def of(
        cls, scenario: Scenario, counts: Mapping[int, int], flushed: Collection[int], releases: int
    ) -> Account:
        people = scenario.people
        told = {one.number for one in people if one.has("counted")} | set(flushed)
        hit = [
            one.number
            for one in people
            if len(one.wire.queued) > 1 or (one.wire.queued and not counts[one.number])
        ]
        if scenario.has_expired:
            told, hit = set(), []
        return cls(
            fault=scenario.fault,
            phones=len(people),
            uploads=scenario.uploads + sum(one.wire.uploads for one in people),
            kills=scenario.kills,
            counted_twice=sum(count > 1 for count in counts.values()),
            lost_after_flush=sum(not counts[number] for number in told),
            went_down=len(hit),
            recovered=sum(counts[number] > 0 for number in hit),
            counted=sum(count > 0 for count in counts.values()),
            dropped=sum(scenario.was_dropped(one) for one in people),
            releases=releases,
            growth_mb=scenario.growth_mb(),
        )

    @property
    def recovered_percent(self) -> float:
        return 100 * self.recovered / self.went_down if self.went_down else 100.0

    def check(self) -> None:
        """What holds whatever happened."""
        self.check_once()
        assert self.recovered_percent >= 95, self
        assert self.counted >= 0.95 * self.phones, self

    def check_once(self) -> None:
        """What holds also where time has run out for what was stored."""
        assert self.counted_twice == 0, self
        assert self.lost_after_flush == 0, self
        assert self.releases == 1, self

    def check_nothing_dropped(self) -> None:
        """What a session took it counts, however small it was when it ended."""
        assert self.dropped == 0, self

    def check_all_counted(self) -> None:
        assert self.counted == self.phones, self
