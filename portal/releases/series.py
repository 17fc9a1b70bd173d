"""One row of a table over windows: the same place, the same activity, week after week."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from django.http import Http404

from aggregation.errors import Problem
from portal.releases.filtering import Filter, Query
from portal.releases.models import Release
from portal.releases.opening import OpenTable, open_table
from portal.releases.rows import Rows

# As many windows as one answer has: the newest.
MOST_WINDOWS = 520
USUAL_WINDOWS = 26


def series(releases: Iterable[Release], *, table: str, query: Query) -> list[dict[str, Any]]:
    """The row of each release that has it; releases come and go with the oldest first.

    An address names one value for each key of the table. It is judged by the newest release.
    """
    rows = list(releases)
    if not rows:
        return []
    newest = open_table(rows[-1], table)
    asked = _one_row(Filter.parse(query, newest.layout, beside=("table", "windows")), newest)
    return list(_rows(rows, table, asked))


def windows_asked(text: str) -> int:
    if not text:
        return USUAL_WINDOWS
    if text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= MOST_WINDOWS:
        return int(text)
    raise Problem(
        f"windows is a whole number from 1 to {MOST_WINDOWS}, not {text[:60]!r}.",
        hint=f"Without it there are {USUAL_WINDOWS}.",
    )


def _one_row(asked: Filter, table: OpenTable) -> Filter:
    for key in table.layout.keys:
        if len(asked.where.get(key, ())) != 1:
            raise Problem(
                f"A series is of one row, so it takes one value of {key}.",
                hint=f"Such as {key}={table.layout.values(key)[0]}.",
            )
    where = {key: asked.where[key] for key in table.layout.keys}
    return replace(Filter(), where=where)


def _rows(releases: list[Release], table: str, asked: Filter) -> Iterator[dict[str, Any]]:
    for release in releases:
        try:
            opened = open_table(release, table)
        except (Http404, Problem):
            # An earlier revision had other tables, or its files are being made.
            continue
        if set(opened.layout.keys) != set(asked.where):
            # The table of all cells is called the same, whatever keys the task had then.
            continue
        found = Rows(opened, asked).read(0, 1)
        window = release.window.as_window()
        for row in found:
            yield {"window": window.id, "label": window.label, **row}
