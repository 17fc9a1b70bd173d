"""What SQLite itself cannot read, though the parser reads it in some way.

`GROUP BY … WHERE …` means something to the parser and nothing to SQLite, so a reviewer would have
to guess how it runs. SQLite reads a statement here and is stopped before it looks up a single
name: it prepares nothing and runs nothing.
"""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import closing
from typing import Final

from aggregation.compiler.diagnostics import Finding

_WORD: Final = re.compile(r'near "(.+)": syntax error|unrecognized token: "(.+)"', re.DOTALL)
# What is too large or too deep is judged by the text that devices run.
_TOO_MUCH: Final = ("Expression tree is too large", "parser stack overflow", "too many")
_HINT: Final = "Check the order of the clauses, and for a missing word, comma or bracket."
_SAID: Final = 60


def not_read_by_sqlite(text: str) -> Iterator[Finding]:
    """Why SQLite cannot read the statement, at the first word that it cannot go on with."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        # It asks what it may do as soon as it has read a statement.
        connection.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
        reason = _reason(connection, text)
        if reason is None or reason.startswith(_TOO_MUCH):
            return
        found = _WORD.fullmatch(reason)
        if found is not None:
            word = found[1] or found[2]
            message = f"SQLite cannot read the statement at {word[:_SAID]!r}."
            yield Finding(message, _HINT, at=_place(connection, text, word, reason))
        elif reason == "incomplete input":
            yield Finding("The statement breaks off.", _HINT, at=len(text.rstrip()))
        else:
            yield Finding(f"SQLite cannot read the statement: {reason[:120]}.", _HINT)


def _reason(connection: sqlite3.Connection, text: str) -> str | None:
    """Nothing where SQLite has read it all."""
    try:
        connection.execute(text)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        return None if code == sqlite3.SQLITE_AUTH else str(error)
    return None


def _place(connection: sqlite3.Connection, text: str, word: str, reason: str) -> int:
    """Where the word stands that SQLite stops at.

    A text that ends with it gives the same reason, and so does each that goes on from there.
    """
    places = [found.start() for found in re.finditer(re.escape(word), text)]

    def stopped(place: int) -> bool:
        return _reason(connection, text[: place + len(word)]) == reason

    number = bisect_left(places, True, key=stopped)
    return places[number] if number < len(places) else 0
