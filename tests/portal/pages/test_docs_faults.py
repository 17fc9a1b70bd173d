"""The page on faults tells of every fault that is tested, by its name in the table."""

import re
from pathlib import Path

from tests.parts import ROOT
from tests.portal.pages.reading_docs import tables

NAMES = re.compile(r"""(?:fault\(\s*|name, phones = |"fault", )"([^"]+)\"""")
FILES = [
    *sorted((ROOT / "tests" / "faults").glob("test_*.py")),
    ROOT / "tests" / "portal" / "releases" / "test_kills.py",
]


def names_in(path: Path) -> list[str]:
    return NAMES.findall(path.read_text())


def test_every_fault_is_described_and_nothing_else() -> None:
    tested = [name for path in FILES for name in names_in(path)]
    told = [row[0] for heading, rows in tables("faults") for row in rows if len(row) == 2]
    assert sorted(told) == sorted(tested)
    assert len(set(tested)) == len(tested) >= 20
