"""What a soak found: a table of numbers that must be zero, for people and for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from devices_sim.fleet.report import Report
from devices_sim.simulation.result import WindowResult
from devices_sim.simulation.soak_growth import growth, memory_growth, sizes_of, swollen
from devices_sim.simulation.soak_programme import Act, What

# Windows of one task that can be sent at a time: a week of days, and the one that ends.
_MOST_OPEN: Final = 8
# Share of intervals that miss, by their promise.
_MISSED: Final = 0.05


@dataclass
class Diary:
    """What was done and measured, as it went."""

    # Each act with the portal's words where it was refused.
    acts: list[tuple[Act, str]] = field(default_factory=list)
    # By week: kilobytes by process; and sizes of tables and files.
    memory: dict[int, dict[str, int]] = field(default_factory=dict)
    sizes: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def refused(self) -> list[tuple[Act, str]]:
        """By the ledger, as it had to."""
        return [(act, said) for act, said in self.acts if act.is_refused and "would cost" in said]

    @property
    def amiss(self) -> int:
        """Done although there was no budget for it, or refused although nothing speaks against."""
        wanted = [(act, said) for act, said in self.acts if act.is_refused]
        return (
            len(wanted)
            - len(self.refused)
            + sum(bool(said) for act, said in self.acts if not act.is_refused)
        )


@dataclass(frozen=True)
class Check:
    """One line of the table: how many there are, of what must not be."""

    name: str
    found: int
    # What was looked at, and what was found in it.
    detail: str


@dataclass
class SoakResult:
    scenario: str
    devices: int
    weeks: int
    report: Report
    diary: Diary
    windows: list[WindowResult]
    # As the command `watch_soak` tells them.
    facts: Mapping[str, Any]
    refused: Mapping[str, int]
    seconds: float = 0.0

    def failures(self) -> list[str]:
        return [f"{check.name}: {check.found:,}" for check in self.checks() if check.found]

    def checks(self) -> list[Check]:
        return [
            *self._windows_checks(),
            *self._ledger_checks(),
            *self._left_checks(),
            *self._growth_checks(),
            *self._counting_checks(),
            *self._record_checks(),
        ]

    def _windows_checks(self) -> Iterator[Check]:
        facts = self.facts
        states = ", ".join(f"{state} {n:,}" for state, n in facts["states"].items())
        yield Check("windows neither released nor skipped", facts["unsettled"], states)
        yield Check("windows released twice, or without a release", facts["not_once"], states)
        why = f"{sum(facts['skipped'].values()):,} were skipped, by reason below"
        yield Check("windows skipped without a reason", facts["skipped"].get("", 0), why)
        acts = Counter(act.what for act, _ in self.diary.acts)
        told = ", ".join(f"{what} {n}" for what, n in acts.items())
        refused = f"{len(self.diary.refused)} activations refused by the ledger"
        yield Check("acts that went amiss", self.diary.amiss, f"{told}; {refused}")

    def _ledger_checks(self) -> Iterator[Check]:
        weeks = self.facts["ledger"]
        off = [w for w in weeks if w["spent"] != w["released"] + w["touched"]]
        touched = sum(w["touched"] for w in weeks) / 100
        why = f"{len(weeks):,} weeks of streams; ε {touched:g} of windows touched, then skipped"
        yield Check("weeks in which spent is not what releases cost", len(off), why)
        taken = [w["spent"] + w["reserved"] - w["cap"] for w in weeks]
        most = max((w["spent"] for w in weeks), default=0) / 100
        over = sum(each > 0 for each in taken)
        yield Check("weeks above the cap", over, f"at most ε {most:g} was spent of one")
        kept = sum(w["reserved"] for w in weeks)
        yield Check("hundredths of ε still reserved", kept, "all tasks have ended")

    def _left_checks(self) -> Iterator[Check]:
        for what, count in self.facts["left"].items():
            yield Check(f"left: {what}", count, "after everything has expired")

    def _growth_checks(self) -> Iterator[Check]:
        grown = swollen(self.diary.sizes)
        why = ", ".join(grown) or "all but those that must are as large as they were"
        yield Check("tables that grow and must not", len(grown), why)
        found = memory_growth(self.diary.memory)
        why = ", ".join(
            f"{name} {each.first / 1000:.0f} → {each.last / 1000:.0f} MB"
            for name, each in found.items()
        )
        yield Check(
            "processes whose memory grows",
            sum(m.grows for m in found.values()),
            why or "too few weeks to tell",
        )

    def _counting_checks(self) -> Iterator[Check]:
        windows = self.windows
        sent, counted = sum(w.sent for w in windows), sum(w.counted for w in windows)
        why = (
            f"{sent:,} parts were sent for {len(windows):,} releases, {counted:,} are counted, "
            f"{sum(w.lost for w in windows):,} phones' are lost"
        )
        yield Check("double counts", sum(w.double for w in windows), why)
        why = "each has its reason, below"
        yield Check("parts said to be counted, and lost", sum(w.forgotten for w in windows), why)
        blind = [f"{w.task} {w.window} of {w.sent:,}" for w in windows if w.sent and not w.counted]
        why = ", ".join(blind) or "double counts would not be"
        yield Check("releases of which nothing is seen to count", len(blind), why)
        yield from self._hostile_checks()

    def _hostile_checks(self) -> Iterator[Check]:
        bad, strange = self.report.bad, sum(w.strange for w in self.windows)
        copies = bad.get("duplicate", 0)
        why = (
            f"of {bad.total():,} bad updates; {strange:,} parts with nothing in them are the first "
            f"of two copies, {copies:,} times"
        )
        yield Check("hostile parts in a sum", max(0, strange - _MOST_OPEN * copies), why)
        told = " ".join(self.refused)
        passed = sorted(kind for kind in bad if kind not in told)
        why = ", ".join(passed) or "each kind for its own reason, below"
        yield Check("kinds of bad updates never refused", len(passed), why)
        totals = [e.total_held for w in self.windows for e in w.errors if e.total_held is not None]
        held, fair = sum(totals), len(totals) * _MISSED
        # Beyond four standard deviations: by chance less than once in ten thousand soaks.
        allowed = int(fair + 4 * (fair * (1 - _MISSED)) ** 0.5)
        why = (
            f"{held:,} of {len(totals):,} intervals hold the truth, where it stands out of its "
            "noise; they promise 95 %"
        )
        yield Check("totals off the truth", max(0, len(totals) - held - allowed), why)

    def _record_checks(self) -> Iterator[Check]:
        doubts = self.facts["not_sure"]
        why = ", ".join(doubts) or "as the page of sessions asks it"
        yield Check("doubts that no update is at rest", len(doubts), why)
        chain, signed = self.facts["chain"], self.facts["signed"]
        why = chain["problem"] or f"{chain['entries']:,} entries"
        yield Check("breaks of the audit chain", int(bool(chain["problem"])), why)
        rotated = sum(act.what is What.ROTATE for act, _ in self.diary.acts)
        why = f"{signed['checks']:,} checks, over {rotated:,} rotations of all three keys"
        yield Check("checks of releases that fail", signed["failed"], why)

    def lines(self) -> Iterator[str]:
        yield (
            f"{self.devices:,} devices, {self.weeks} weeks of the scenario {self.scenario} in "
            f"{self.seconds:,.0f} s: {self.report.wake_ups:,} wake-ups, "
            f"{self.report.sent:,} updates, {len(self.windows):,} releases"
        )
        yield ""
        yield f"{'must be 0':<48} {'found':>6}  of what"
        for check in self.checks():
            yield f"{check.name:<48} {check.found:>6,}  {check.detail}"
        yield ""
        yield "windows skipped, by reason:"
        yield from (f"  {n:>6,}  {why}" for why, n in sorted(self.facts["skipped"].items()))
        yield "activations refused by the ledger:"
        yield from (f"  {act}: {said}" for act, said in self.diary.refused)
        yield "refused by the server, by reason:"
        yield from (f"  {n:>6,}  {why}" for why, n in sorted(self.refused.items()))
        yield "lost, by the last word that the phone had:"
        yield from (f"  {n:>6,}  {why}" for why, n in sorted(self._last_words().items()))
        yield from sizes_of(self.diary.sizes)

    def _last_words(self) -> Counter[str]:
        found = Counter[str]()
        for window in self.windows:
            found.update(window.last_words)
        return found

    def json(self) -> str:
        return json.dumps(self._document(), indent=2, ensure_ascii=False)

    def _document(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "devices": self.devices,
            "weeks": self.weeks,
            "seconds": round(self.seconds, 1),
            "wake_ups": self.report.wake_ups,
            "updates": self.report.sent,
            "checks": [asdict(check) for check in self.checks()],
            "failures": self.failures(),
            "acts": [
                {"at": act.at.isoformat(), "what": act.what, "task": act.task, "refused": said}
                for act, said in self.diary.acts
            ],
            "windows_skipped": dict(self.facts["skipped"]),
            "refused_by_the_server": dict(self.refused),
            "lost_by_last_word": dict(self._last_words()),
            "bad_updates_sent": dict(self.report.bad),
            "facts": dict(self.facts),
            "growth": growth(self.diary.sizes),
            "memory": self.diary.memory,
            "windows": [asdict(window) for window in self.windows],
        }
