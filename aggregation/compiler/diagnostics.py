"""What the compiler says to an analyst: a rule's name, a sentence, a remedy, and the place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

Severity = Literal["refusal", "warning"]

# Parts in the order an analyst reads them; fields of the document come after.
SQL_PARTS: Final = ("sql", "client_sql", "server_sql", "eligibility.sql")


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict. `part` is an SQL part, or the path of a field of the document.

    Line and column count from 1: in the SQL part's own text, or in the document for a field;
    they are missing where the document's text is not at hand.
    """

    rule: str
    severity: Severity
    message: str
    hint: str
    part: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class Finding:
    """What a rule gives, before its name and its place in the text are added."""

    message: str
    hint: str
    # Offset into the part's text, for findings in SQL.
    at: int = 0
    severity: Severity = "refusal"
    # Where the finding does not lie in the part under test.
    part: str | None = None


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each once, sorted by part and position."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=_place))


def _place(diagnostic: Diagnostic) -> tuple[int, str, int, int, str]:
    part = diagnostic.part
    rank = SQL_PARTS.index(part) if part in SQL_PARTS else len(SQL_PARTS)
    return (rank, part, diagnostic.line or 0, diagnostic.column or 0, diagnostic.rule)
