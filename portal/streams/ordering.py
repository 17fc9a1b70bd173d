"""Which of the places that a text matches come first: those that people most likely mean."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence

from portal.streams.folding import words
from portal.streams.places_file import NAME_BITS

# Names in all languages are compared for so many of the largest places, in a few milliseconds.
_COMPARED = 300


def best_first(
    database: sqlite3.Connection, wanted: Sequence[str], ranks: Iterable[int]
) -> list[int]:
    """Places that are called just so in some language; then those whose own name begins with the
    text; then those with its words in their own name; then those that match by another name
    alone. Among equals the largest comes first."""
    text = " ".join(wanted)
    own = _own_names(database, _rows(database, [f'"{word}"*' for word in wanted]))
    begin = {rank for rank, name in own.items() if name.startswith(text)}
    exact = _called(database, text, _rows(database, [f'"{word}"' for word in wanted]))
    exact |= {rank for rank, name in own.items() if name == text}
    groups = (exact, begin, own)
    return sorted(ranks, key=lambda rank: (_first(rank, groups), rank))


def _first(rank: int, groups: Sequence[Collection[int]]) -> int:
    return next((n for n, group in enumerate(groups) if rank in group), len(groups))


def _rows(database: sqlite3.Connection, expressions: Sequence[str]) -> list[int]:
    """The ids of names: a place's rank, shifted, and the number of the name."""
    asked = "SELECT rowid FROM names WHERE names MATCH ?"
    return [row for (row,) in database.execute(asked, [" ".join(expressions)])]


def _own_names(database: sqlite3.Connection, rows: Iterable[int]) -> dict[int, str]:
    """Folded, by rank. A place's own name is its first."""
    ranks = [row >> NAME_BITS for row in rows if not row % (1 << NAME_BITS)]
    asked = "SELECT rank, name FROM places WHERE rank IN (SELECT value FROM json_each(?))"
    found = database.execute(asked, [json.dumps(ranks)])
    return {rank: " ".join(words(name)) for rank, name in found}


def _called(database: sqlite3.Connection, text: str, rows: Iterable[int]) -> set[int]:
    ranks = sorted({row >> NAME_BITS for row in rows})[:_COMPARED]
    asked = "SELECT rank, other_names FROM places WHERE rank IN (SELECT value FROM json_each(?))"
    found = database.execute(asked, [json.dumps(ranks)])
    return {rank for rank, names in found if _has(text, names.splitlines())}


def _has(text: str, names: Iterable[str]) -> bool:
    return any(" ".join(words(name)) == text for name in names)
