"""What nobody sees is refused, in queries, in every other text of a spec, and around them.

A spec that was signed before is neither read nor run by this rule: it is asked of what is written,
submitted or approved.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from aggregation.compiler import bounds
from aggregation.compiler.diagnostics import SQL_PARTS, Diagnostic, Finding
from aggregation.protocol.unseen import REMEDY, TOLD, unseen_in_prose, unseen_in_sql

RULE: Final = "unseen_character"


def in_sql(text: str) -> Iterator[Finding]:
    for found in unseen_in_sql(text):
        yield Finding(f"The character here is {found.name}. {TOLD}", REMEDY, at=found.at)


def in_fields(document: dict[str, Any]) -> Iterator[Finding]:
    """Everywhere but in the queries, which are judged where they are read."""
    for path, text in _texts(document, ""):
        if path not in SQL_PARTS:
            for found in unseen_in_prose(text):
                place = f"Line {found.line}, column {found.column} of this text"
                yield Finding(f"{place} is {found.name}. {TOLD}", REMEDY, part=path)


def in_document(source: str | bytes) -> tuple[Diagnostic, ...]:
    """In the text of a document that can be read: its comments are no part of the spec, but stand
    before whoever opens it."""
    text = source.decode() if isinstance(source, bytes) else source
    found = unseen_in_prose(text.removeprefix("\ufeff"))
    return tuple(
        Diagnostic(
            rule=RULE,
            severity="refusal",
            message=f"The character here is {one.name}. {TOLD}",
            hint=REMEDY,
            part="document",
            line=one.line,
            column=one.column,
        )
        for one in islice(found, bounds.MAX_FINDINGS)
    )


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """All texts with the paths of their fields; a name that the analyst chose has its field's."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield path, name
            yield from _texts(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _texts(inner, f"{path}.{place}")
