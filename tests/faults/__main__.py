"""`make faults`: every fault at full size on PostgreSQL, a table, and an exit code that says it.

Kills at every place of a release have a test of their own, which runs beside the others.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

from tests.faults.table import Line, Table
from tests.run import postgresql, prepared_once

LEAST_KILLS: Final = 150
KILLS = "tests/portal/releases/test_kills.py"


class Beside:
    """The test that runs beside the others: its line is in their table."""

    def __init__(self, folder: Path) -> None:
        self._report, self._log = folder / "report.xml", folder / "log"
        words = ["--size", "full", "-q", KILLS, f"--junitxml={self._report}"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *words], stdout=log, stderr=log
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        table = terminalreporter.config.pluginmanager.get_plugin("table of faults")
        passed = self._process.wait() == 0
        if not passed:
            terminalreporter.write_line(self._log.read_text(errors="replace"))
        table.lines.append(_line_in(self._report, passed=passed))

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


def _line_in(report: Path, *, passed: bool) -> Line:
    found = ElementTree.parse(report).iter("property") if report.exists() else ()  # noqa: S314
    said = {str(each.get("name")): str(each.get("value")) for each in found}
    return Line(said.get("fault", KILLS), int(said.get("kills", 0)), None, None, passed=passed)


def main() -> int:
    with (
        prepared_once(),
        postgresql() as variables,
        tempfile.TemporaryDirectory(prefix="mayfly-beside-") as folder,
    ):
        os.environ.update(variables)
        beside = Beside(Path(folder))
        try:
            code = int(pytest.main(["--size", "full", "-q", "tests/faults"], plugins=[beside]))
        finally:
            beside.stop()
    return code or _verdict(Table.latest)


def _verdict(table: Table | None) -> int:
    """Fewer kills than were promised are a failure, too."""
    if table is None or table.kills < LEAST_KILLS:
        print(f"faults: fewer than {LEAST_KILLS} kills.")
        return 1
    return 0 if all(line.passed for line in table.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
