"""A result as cells: table, row, column and number. One shape for all kinds, so that any two
studies of a kind stand side by side, and every export is the same."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from portal.lab.models import Study
from portal.spreadsheets import harmless


class Cell(NamedTuple):
    table: str
    row: str
    column: str
    value: float


def cells_of(study: Study) -> Iterator[Cell]:
    if study.result is not None:
        yield from _OF_KIND[Study.Kind(study.kind)](study.result)


def as_csv(study: Study) -> str:
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(Cell._fields)
    lines.writerows(map(harmless, cell) for cell in cells_of(study))
    return out.getvalue()


@dataclass(frozen=True)
class Beside:
    """One number of two studies; either may lack it."""

    row: str
    column: str
    first: float | None
    second: float | None

    @property
    def ratio(self) -> float | None:
        return self.second / self.first if self.first and self.second is not None else None


def side_by_side(first: Study, second: Study) -> dict[str, list[Beside]]:
    """By table, in the order of the first, then what only the second has."""
    left, right = ({cell[:3]: cell.value for cell in cells_of(one)} for one in (first, second))
    found: dict[str, list[Beside]] = {}
    for key in dict.fromkeys([*left, *right]):
        table, row, column = key
        found.setdefault(table, []).append(Beside(row, column, left.get(key), right.get(key)))
    return found


def _comparison(result: dict[str, Any]) -> Iterator[Cell]:
    for found in result["results"]:
        for mechanism, errors in found["mechanisms"].items():
            for metric, error in errors.items():
                yield Cell(f"ε = {found['epsilon']:g}", mechanism, metric, error)


def _reach(result: dict[str, Any]) -> Iterator[Cell]:
    for row in result["constraints"]:
        name = f"{row['conditions']}; {row['where']}; {row['span']}"
        for column in ("paper", "model", "phones"):
            yield Cell("constraints", name, column, row[column])
    for rung in result["ladder"]["rungs"]:
        for column, value in rung.items():
            if isinstance(value, int | float):
                yield Cell("ladder", rung["version"], column, value)


def _calibration(result: dict[str, Any]) -> Iterator[Cell]:
    yield from _numbers("mechanism", result.get("mechanism"), "")
    yield from _numbers("provenance", result.get("provenance"), "")


def _numbers(table: str, value: Any, at: str) -> Iterator[Cell]:
    """The numbers of nested values, each under the names that lead to it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(table, inner, f"{at}.{name}".strip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _numbers(table, inner, f"{at}.{number}".strip("."))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        row, _, column = at.rpartition(".")
        yield Cell(table, row, column, value)


_OF_KIND = {
    Study.Kind.COMPARISON: _comparison,
    Study.Kind.REACH: _reach,
    Study.Kind.CALIBRATION: _calibration,
}
