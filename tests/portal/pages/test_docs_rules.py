"""Every rule of the compiler is described, its example meets it, and it says what the page says."""

import re
from typing import Any

import pytest
import yaml

from aggregation.compiler import bounds
from aggregation.compiler.report import compile_text
from aggregation.protocol.sqlite_limits import ALLOWED_FUNCTIONS
from aggregation.protocol.streams import Catalog
from tests.aggregation.compiler import catalogue
from tests.portal.pages.reading_docs import fences, tables, text

# What the reading of a document says before the compiler sees a spec.
ABOUT_DOCUMENTS = {"unreadable", "unknown_field", "missing_field", "field_type"}
UNSHOWN = "Rules without a short example"
# Which part of the plain spec an example stands for; elsewhere it is the client query.
PARTS = {"The server query": "server_sql", "Eligibility": "eligibility"}
OF_FIELDS = ("Fields", "Warnings about fields")

EXAMPLES = [
    (heading, *row) for heading, rows in tables("sql-rules") if heading != UNSHOWN for row in rows
]


def plain_spec() -> dict[str, Any]:
    (block,) = fences("sql-rules", "yaml")
    found: dict[str, Any] = yaml.safe_load(block.content)
    return found


def patch(heading: str, example: str) -> dict[str, Any]:
    if heading in OF_FIELDS:
        found: dict[str, Any] = yaml.safe_load(example)
        return found
    part = PARTS.get(heading, "client_sql")
    return {part: {"sql": example} if part == "eligibility" else example}


def diagnostics(catalog: Catalog, changed: dict[str, Any]) -> list[dict[str, Any]]:
    whole = {k: v for k, v in {**plain_spec(), **changed}.items() if v is not None}
    _code, report = compile_text(yaml.safe_dump(whole), catalog, frozenset({"all"}))
    return list(report["diagnostics"])


@pytest.mark.parametrize(
    ("heading", "rule", "example", "says"), EXAMPLES, ids=[row[1] for row in EXAMPLES]
)
def test_the_example_meets_its_rule(
    catalog: Catalog, heading: str, rule: str, example: str, says: str
) -> None:
    found = [d for d in diagnostics(catalog, patch(heading, example)) if d["rule"] == rule]
    said = [f"{d['message']} {d['hint']}".strip().replace("`", "") for d in found]
    assert says in said
    kind = "warning" if heading.startswith("Warnings") else "refusal"
    assert {d["severity"] for d in found} == {kind}


def test_the_plain_spec_is_accepted(catalog: Catalog) -> None:
    assert diagnostics(catalog, {}) == []


def test_the_nested_statement_is_accepted(catalog: Catalog) -> None:
    (nested,) = fences("sql-rules", "sql")
    changed = {"sql": nested.content, "client_sql": None, "server_sql": None}
    assert diagnostics(catalog, changed) == []


def test_every_rule_is_described_once() -> None:
    described = [row[0] for _, rows in tables("sql-rules") for row in rows]
    assert sorted(described) == sorted(catalogue.REFUSALS | catalogue.WARNINGS | ABOUT_DOCUMENTS)


def test_refusals_and_warnings_are_kept_apart() -> None:
    warned = {row[1] for row in EXAMPLES if row[0].startswith("Warnings")}
    assert warned | {"tiny_groups"} == catalogue.WARNINGS


def test_the_functions_are_those_of_the_device() -> None:
    listed = re.search(r"the functions (.*?)\. Keys", text("sql-rules"))
    assert listed is not None
    assert {n.lower() for n in re.findall(r"[A-Z]+", listed.group(1))} == ALLOWED_FUNCTIONS


def test_the_bounds_are_the_code_s() -> None:
    page = text("sql-rules")
    assert (
        f"more than {bounds.MAX_SQL_CHARACTERS:,} characters or {bounds.MAX_TOKENS:,} words and "
        f"signs, or brackets nested more than {bounds.MAX_BRACKETS} deep"
    ) in page
    for number in (
        bounds.MAX_DESCRIPTION,
        bounds.MAX_KEYS,
        bounds.MAX_METRICS,
        bounds.MAX_CELLS,
        bounds.MAX_STATISTICS,
    ):
        assert f"{number:,}" in page
