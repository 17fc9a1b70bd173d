"""Rules on one column through all SELECTs of a UNION ALL."""

from __future__ import annotations

from collections.abc import Iterator

from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.origins import FromWindow, Undecided
from aggregation.compiler.tree import Block, Select, Union


def window_in_union(union: Union) -> Iterator[Finding]:
    """Under one name the window and something else would be a value that filters may choose by."""
    for place in range(len(union.fields)):
        origins = [b.fields[place].origin for b in union.branches if place < len(b.fields)]
        if not any(isinstance(o, FromWindow) for o in origins):
            continue
        for branch, origin in zip(union.branches, origins, strict=False):
            if not isinstance(origin, FromWindow | Undecided):
                message = "This stands in the column where another SELECT has privacy_time_unit."
                yield Finding(message, "Select privacy_time_unit here too.", at=_at(branch, place))


def types_in_union(union: Union) -> Iterator[Finding]:
    """A column that is text in one SELECT and a number in another is neither."""
    for place in range(len(union.fields)):
        columns = [(b, b.fields[place].type) for b in union.branches if place < len(b.fields)]
        typed = [(branch, kind) for branch, kind in columns if kind in ("text", "number")]
        for branch, kind in typed:
            if kind != typed[0][1]:
                what = "text" if kind == "text" else "a number"
                other = "a number" if kind == "text" else "text"
                message = f"This is {what}, in a column where another SELECT has {other}."
                hint = "Give the column text in every SELECT, or numbers in every SELECT."
                yield Finding(message, hint, at=_at(branch, place))


def _at(branch: Block, place: int) -> int:
    """Where a column of a UNION ALL's SELECT is written."""
    return branch.items[place].at if isinstance(branch, Select) else branch.at
