"""Findings in the words of the form, whose editors have names of their own."""

import re
from typing import Any

_EDITORS = {
    "client_sql": "On each phone",
    "server_sql": "Across phones",
    "sql": "One nested statement",
}
_FIELD = re.compile(r"\b(client_sql|server_sql)\b")


def in_words_of_the_form(found: dict[str, Any]) -> dict[str, Any]:
    """A finding with its `place` for people; its `part` stays the field of the document."""
    said = {each: _FIELD.sub(_named, found[each]) for each in ("message", "hint")}
    return {**found, **said, "place": _place(found)}


def _named(field: re.Match[str]) -> str:
    return f"“{_EDITORS[field[0]]}”"


def _place(found: dict[str, Any]) -> str:
    name = _EDITORS.get(found["part"], found["part"])
    return f"{name} {found['line']}:{found['column']}" if found["line"] else name
