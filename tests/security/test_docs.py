"""What /docs/security names exists: its tests, its bounds and its files."""

import ast
import re
from functools import cache

import pytest

from portal.device_api.patience import PatientProtocol
from portal.device_api.protocol import MOST_KEPT
from tests.parts import ROOT
from tests.portal.pages.reading_docs import tables, text

NAMED = sorted(
    {row[-1] for _, rows in tables("security") for row in rows if row[-1].startswith("tests/")}
)


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text())
    found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return {name for name in found if name.startswith("test_")}


@pytest.mark.parametrize("named", NAMED)
def test_every_test_that_is_named_exists(named: str) -> None:
    file, _, name = named.partition("::")
    found = names_in(file)
    assert name in found if name else found


def test_every_row_names_one() -> None:
    for heading, rows in tables("security"):
        for row in rows:
            assert row[-1].startswith("tests/"), (heading, row)


def test_items_are_written_as_the_standard_does() -> None:
    items = [
        row[0] for heading, rows in tables("security") for row in rows if heading != "Connections"
    ]
    for item in items:
        assert re.fullmatch(r"\d+\.\d+(\.\d+)?((, | to )\d+\.\d+(\.\d+)?)*", item), item


def test_the_bounds_are_the_code_s() -> None:
    bounds = {
        row[0]: row[1]
        for heading, rows in tables("security")
        for row in rows
        if heading == "Connections"
    }
    assert list(bounds.values()) == [
        f"{PatientProtocol.longest_head // 1024} kB",
        f"{PatientProtocol.longest_request // 1_000_000} MB, "
        f"{PatientProtocol.most_headers} headers",
        f"{PatientProtocol.arrival_seconds:.0f} s",
        str(PatientProtocol.most_ahead),
        # Ours, and as much again in the transport.
        f"{2 * MOST_KEPT // 1024} kB",
        f"{PatientProtocol.arrival_seconds:.0f} s",
    ]
    assert "tests/security/access.txt" in text("security")
