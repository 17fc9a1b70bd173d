"""The report: exit codes and JSON of the command and the API."""

import json

import pytest
import yaml

from aggregation.compiler.report import compile_text
from tests.aggregation.compiler.corpus import BASE, catalog

CATALOG = catalog()
TEXT = yaml.safe_dump(BASE, sort_keys=False)


def test_it_accepts() -> None:
    code, report = compile_text(TEXT, CATALOG)
    assert code == 0
    assert set(report) == {"accepted", "diagnostics", "client_task", "server_config", "explain"}
    assert report["accepted"] is True
    assert report["diagnostics"] == []
    assert report["explain"].startswith("On the phone. Each phone")
    assert json.loads(json.dumps(report)) == report


def test_it_refuses_with_every_diagnostic() -> None:
    text = TEXT.replace("COUNT(*) AS n", "RANDOM() AS n").replace("epsilon: 1", "epsilon: 9")
    code, report = compile_text(text, CATALOG)
    assert code == 1
    assert report["accepted"] is False
    assert report["client_task"] is report["server_config"] is report["explain"] is None
    found = [(d["rule"], d["part"], d["line"], d["column"]) for d in report["diagnostics"]]
    assert found == [
        ("random_or_clock", "client_sql", 1, 37),
        ("epsilon", "anonymization.epsilon", 17, 3),
    ]
    assert set(report["diagnostics"][0]) == {
        "rule", "severity", "message", "hint", "part", "line", "column",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "]", "a: &x 1\nb: *x", b"\xff", "- 1", "a: 1\na: 2"])
def test_it_says_when_a_document_is_unreadable(text: str | bytes) -> None:
    code, report = compile_text(text, CATALOG)
    assert code == 2
    assert [d["rule"] for d in report["diagnostics"]] == ["unreadable"]


def test_it_names_unknown_fields() -> None:
    code, report = compile_text(TEXT.replace("client_sql", "clientsql"), CATALOG)
    assert code == 1
    assert report["diagnostics"][0]["rule"] == "unknown_field"
    assert "client_sql" in report["diagnostics"][0]["hint"]


def test_what_nobody_sees_is_refused_in_comments_of_the_document_too() -> None:
    code, report = compile_text(f"# Trips\u202e\n{TEXT}# \u2067\n", CATALOG)
    assert code == 1
    found = [(d["rule"], d["part"], d["line"], d["column"]) for d in report["diagnostics"]]
    last = TEXT.count("\n") + 2
    assert found == [
        ("unseen_character", "document", 1, 8),
        ("unseen_character", "document", last, 3),
    ]
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in report["diagnostics"][0]["message"]


def test_what_nobody_sees_is_told_once() -> None:
    """Where it stands in a field it is told there, though it stands in the document as well."""
    written = f"# \u202e\n{TEXT}description: Trips\u202e by activity\n"
    found = compile_text(written, CATALOG)[1]["diagnostics"]
    assert [(d["rule"], d["part"], d["line"]) for d in found] == [
        ("unseen_character", "description", TEXT.count("\n") + 2)
    ]
    assert found[0]["message"].startswith("Line 1, column 6 of this text is U+202E")


def test_a_mark_of_the_order_of_bytes_is_no_part_of_the_text() -> None:
    marked = f"\ufeff{TEXT}"
    assert compile_text(marked, CATALOG)[0] == compile_text(marked.encode(), CATALOG)[0] == 0


def test_json_and_yaml_get_the_same_answer() -> None:
    from_yaml, from_json = compile_text(TEXT, CATALOG), compile_text(json.dumps(BASE), CATALOG)
    assert from_yaml == from_json
