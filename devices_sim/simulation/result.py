"""What a simulation found, for people and for programs. Exact: its phones are made up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from devices_sim.fleet import reach
from devices_sim.fleet.cost import Network, query_joules
from devices_sim.fleet.reach import Reach
from devices_sim.fleet.report import Report, percentile
from devices_sim.simulation.errors import Error
from devices_sim.simulation.ledger import Verdict
from devices_sim.simulation.system import Cost


@dataclass(frozen=True)
class WindowResult:
    """One window of one task, from what phones sent to what was released."""

    task: str
    window: str
    sent: int
    phones: int
    counted: int
    double: int
    lost: int
    forgotten: int
    # The last that phones have heard of what is lost, in sentences.
    last_words: dict[str, int]
    strange: int
    errors: list[Error]

    @classmethod
    def of(cls, task: str, window: str, found: Verdict, errors: list[Error]) -> WindowResult:
        return cls(
            task=task,
            window=window,
            sent=found.sent,
            phones=found.phones,
            counted=found.counted,
            double=found.double,
            lost=found.lost,
            forgotten=found.forgotten,
            last_words={word.sentence: n for word, n in sorted(found.last_words.items())},
            strange=found.strange,
            errors=errors,
        )

    def lines(self) -> Iterator[str]:
        yield (
            f"{self.task} {self.window}: {self.phones:,} phones sent {self.sent:,} updates, "
            f"{self.counted:,} are counted; double counts: {self.double:,}, lost: {self.lost:,}"
        )
        if self.strange:
            yield f"  counted, and sent by no honest phone: {self.strange:,}"
        for error in self.errors:
            yield f"  {error.metric:<13} {_error_words(error)}"


@dataclass
class Result:
    scenario: str
    devices: int
    weeks: int
    data: str
    # Machine time in which phones lived, and of everything.
    seconds: float
    report: Report
    windows: list[WindowResult]
    reach: Mapping[str, Mapping[str, Reach]]
    refused: Mapping[str, int]
    # By process.
    costs: Mapping[str, Cost]
    all_seconds: float = 0.0

    @property
    def double_counts(self) -> int:
        return sum(window.double for window in self.windows)

    def failures(self) -> list[str]:
        """Why no release of this simulation can be believed; none where all is well."""
        found = []
        if self.double_counts:
            found.append("DOUBLE COUNTS: the once-only rule is broken, and no release above holds.")
        for window in self.windows:
            name = f"{window.task} {window.window}"
            if window.forgotten:
                found.append(f"{name}: {window.forgotten:,} phones were told that they count, and "
                             "do not.")  # fmt: skip
            if window.strange and not self.report.bad:
                found.append(f"{name}: {window.strange:,} updates are counted that nobody sent.")
            if window.sent and not window.counted:
                found.append(f"{name}: nothing of what was sent is seen to count, so double counts "
                             "would not be seen, either.")  # fmt: skip
        return found

    @property
    def processor_seconds(self) -> float:
        """Of the processes with phones."""
        return sum(
            c.processor_seconds for name, c in self.costs.items() if name.startswith("phones")
        )

    @property
    def lost(self) -> int:
        return sum(window.lost for window in self.windows)

    def lines(self) -> Iterator[str]:
        report = self.report
        yield (
            f"{self.devices:,} devices, {self.weeks} weeks of the scenario {self.scenario} in "
            f"{self.seconds:.0f} s, {self.all_seconds:.0f} s with everything around it"
        )
        yield (
            f"{report.wake_ups / self.seconds:,.0f} wake-ups/s, "
            f"{report.sent / self.seconds:,.0f} updates/s; "
            f"{1e6 * self.processor_seconds / max(report.wake_ups, 1):,.0f} µs of a processor "
            "for each wake-up, its people's lives included"
        )
        yield from report.lines()
        if report.took:
            p50, p95 = percentile(report.took, 0.5), percentile(report.took, 0.95)
            yield f"time per query, p50 and p95: {p50:,} and {p95:,} ms, many phones at once"
        yield from self._energy()
        yield from reach.lines(self.reach)
        for window in self.windows:
            yield from window.lines()
        yield f"double counts: {self.double_counts:,}; lost: {self.lost:,}"
        yield from self.failures()
        yield "refused by the server: " + (_counts(self.refused) or "nothing")
        yield "peak memory, and time of a processor, by process:"
        for name, cost in self.costs.items():
            memory, seconds = cost.peak_kilobytes / 1000, cost.processor_seconds
            yield f"  {name:<12} {memory:>7,.0f} MB {seconds:>8,.1f} s"

    def json(self) -> str:
        return json.dumps(self._document(), indent=2, ensure_ascii=False)

    def _document(self) -> dict[str, Any]:
        report = self.report
        return {
            "scenario": self.scenario,
            "devices": self.devices,
            "weeks": self.weeks,
            "data": self.data,
            "seconds": round(self.seconds, 1),
            "all_seconds": round(self.all_seconds, 1),
            "wake_ups": report.wake_ups,
            "updates": report.sent,
            "wake_ups_per_second": round(report.wake_ups / self.seconds, 1),
            "updates_per_second": round(report.sent / self.seconds, 1),
            "processor_seconds_of_phones": round(self.processor_seconds, 1),
            "double_counts": self.double_counts,
            "lost": self.lost,
            "failures": self.failures(),
            "bytes_per_query": _percentiles(report.both),
            "milliseconds_per_query": _percentiles(report.took),
            "joules_per_query": {name: round(j, 2) for name, j in self._joules().items()},
            "reach": self._reach(),
            "windows": [asdict(window) for window in self.windows],
            "refused_by_the_server": dict(self.refused),
            "refused_by_phones": dict(report.refusals),
            "bad_updates_sent": dict(report.bad),
            "peak_kilobytes": {n: cost.peak_kilobytes for n, cost in self.costs.items()},
            "processor_seconds": {
                name: round(cost.processor_seconds, 1) for name, cost in self.costs.items()
            },
        }

    def _reach(self) -> list[dict[str, Any]]:
        model = reach.modelled()
        rows = []
        for conditions, found in self.reach.items():
            for where, fleet in found.items():
                paper = reach.PAPER[conditions].get(where)
                law = model[conditions].get(where) or reach.law_of(where).reach(conditions)
                rows += [
                    {
                        "conditions": conditions,
                        "where": where,
                        "span": span,
                        "fleet": round(getattr(fleet, span), 4),
                        "model": round(getattr(law, span), 4),
                        "paper": getattr(paper, span) if paper else None,
                    }
                    for span in ("weekly", "daily")
                ]
        return rows

    def _energy(self) -> Iterator[str]:
        if joules := self._joules():
            told = ", ".join(f"{j:.1f} J over {network}" for network, j in joules.items())
            yield f"energy per query, p95, after the paper's estimate: {told}"

    def _joules(self) -> dict[str, float]:
        """Computing is taken from this machine: a phone's processor takes some times longer."""
        if not self.report.both:
            return {}
        size = percentile(self.report.both, 0.95)
        seconds = self.processor_seconds / max(self.report.wake_ups, 1)
        return {
            network.value: query_joules(total_bytes=size, cpu_seconds=seconds, network=network)
            for network in Network
        }


def _error_words(error: Error) -> str:
    words = f"{error.shown:,} of {error.cells:,} cells are shown"
    if error.median is not None:
        words += f", off by {error.median:.1%} in the median, {error.held:.1%} of intervals hold"
    if error.in_all is None:
        return f"{words}; the total is not"
    words += f"; the total is off by {error.in_all:+.1%}"
    if error.total_held is None:
        return f"{words}, and hardly stands out of its noise"
    return f"{words}, its interval {'holds' if error.total_held else 'does not hold'}"


def joined(reports: Sequence[Report]) -> Report:
    whole = Report()
    for report in reports:
        whole.join(report)
    return whole


def _percentiles(values: Mapping[int, int]) -> dict[str, int]:
    if not values:
        return {}
    return {"p50": percentile(values, 0.5), "p95": percentile(values, 0.95)}


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
