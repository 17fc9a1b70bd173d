"""Rows of a table for programs: each a dictionary, with names beside the keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, overload

from portal.releases.beside import Beside
from portal.releases.filtering import Filter
from portal.releases.opening import OpenTable
from portal.releases.reading import count_rows

Row = dict[str, Any]


@dataclass(frozen=True)
class Rows(Sequence[Row]):
    """All rows that are asked for, of which only the slice that is wanted is read."""

    table: OpenTable
    asked: Filter

    @cached_property
    def beside(self) -> Beside:
        return Beside(self.table)

    @cached_property
    def _count(self) -> int:
        layout = self.table.layout
        return count_rows(layout.file, layout, self.asked.where, self.asked.shown_only)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, int):
            return self.read(index, 1)[0]
        first, end, _ = index.indices(len(self))
        return self.read(first, max(end - first, 0))

    def read(self, first: int, count: int) -> list[Row]:
        question = self.table.question(self.asked, self.beside.file_names)
        found = question.page(self.table.layout.file, first=first, count=count)
        return [_finite(row) for row in self.beside.dictionaries(found)]


def _finite(row: Row) -> Row:
    """JSON has no word for infinity: a half-width without end is null beside its value."""
    return {k: None if isinstance(v, float) and not isfinite(v) else v for k, v in row.items()}
