"""The table at the end: one line for each fault, and whether all held that must hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from tests.faults.account import Account

HEADS = (
    "fault", "kills", "uploads", "counted twice", "stored and lost", "releases", "recovered",
    "canaries", "memory", "passed",
)  # fmt: skip
NUMBERS = range(1, 6)


@dataclass(frozen=True)
class Line:
    fault: str
    kills: int
    account: Account | None
    # Where something of a marked phone was found; nothing before anybody has looked.
    canaries: int | None
    passed: bool

    def cells(self) -> tuple[str, ...]:
        account, passed = self.account, "yes" if self.passed else "NO"
        if account is None:
            return (self.fault, str(self.kills), *["–"] * 7, passed)
        down = account.went_down
        return (
            self.fault,
            str(self.kills),
            f"{account.uploads:,}",
            str(account.counted_twice),
            str(account.lost_after_flush),
            str(account.releases),
            f"{account.recovered_percent:.1f} % of {down}" if down else "none down",
            "–" if self.canaries is None else str(self.canaries),
            f"{account.growth_mb:+.0f} MB",
            passed,
        )


class Table:
    """Hears of every test's end; a test says in its properties what it did.

    `account` is that of a window, `kills` counts those of a test without one, and `canaries` says
    of each fault how often something of its marked phone was found.
    """

    # The one of this process.
    latest: ClassVar[Table | None] = None

    def __init__(self) -> None:
        self.lines: list[Line] = []
        Table.latest = self

    @property
    def kills(self) -> int:
        return sum(line.kills for line in self.lines)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        said = dict(report.user_properties)
        if found := said.get("canaries"):
            self.lines = [replace(line, canaries=found.get(line.fault)) for line in self.lines]
        if report.when == "call" and not report.skipped:
            self._add(report, said)
        elif report.failed and "tests/faults" in report.nodeid:
            self.lines.append(Line(_name(report), 0, None, None, passed=False))

    def _add(self, report: pytest.TestReport, said: dict[str, object]) -> None:
        account = said.get("account")
        if isinstance(account, Account):
            line = Line(account.fault, account.kills, account, None, report.passed)
        elif "kills" in said:
            line = Line(str(said["fault"]), int(str(said["kills"])), None, None, report.passed)
        elif report.failed and "tests/faults" in report.nodeid:
            line = Line(_name(report), 0, None, None, passed=False)
        else:
            return
        self.lines.append(line)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.lines:
            terminalreporter.write_line(f"\n{self}")

    def __str__(self) -> str:
        rows = [HEADS, *(line.cells() for line in self.lines)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(_placed(row, widths)) for row in rows]
        failed = sum(not line.passed for line in self.lines)
        uploads = sum(line.account.uploads for line in self.lines if line.account)
        total = (
            f"{len(self.lines)} faults, {self.kills} kills, {uploads:,} uploads, {failed} failed"
        )
        return "\n".join([*lines, "", total])


def _placed(row: tuple[str, ...], widths: list[int]) -> list[str]:
    cells = enumerate(zip(row, widths, strict=True))
    return [
        cell.rjust(width) if at in NUMBERS else cell.ljust(width) for at, (cell, width) in cells
    ]


def _name(report: pytest.TestReport) -> str:
    """`a clock that jumps`, of a test that ended before it had an account."""
    words = report.nodeid.rpartition("::")[2].removeprefix("test_").partition("[")[0]
    return f"{words.replace('_', ' ')} ({Path(report.fspath).stem})"
