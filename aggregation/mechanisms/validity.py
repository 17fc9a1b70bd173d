"""Checks that the mechanisms share: columns, slices, metrics and sizes of numbers."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from math import isfinite

from aggregation.mechanisms.interface import Finding
from aggregation.mechanisms.slices import slice_count, slice_names
from aggregation.protocol.anonymization import Scales
from aggregation.protocol.ranks import Cells

# Beyond these a number is a slip of the pen, and products of two would leave the range of floats.
SMALLEST, LARGEST = 1e-9, 1e12
MAX_SLICES = 10_000
# Findings of one kind that are listed before the rest is only counted.
_LISTED = 8


def number_findings(field: str, value: float, *, what: str) -> Iterator[Finding]:
    """A size must be a positive number that can be meant."""
    if not isfinite(value) or value <= 0:
        message = f"{what} is {value}, but must be a positive number."
        yield Finding(field, message, "Write one, or fit it again.")
    elif not SMALLEST <= value <= LARGEST:
        yield Finding(
            field,
            f"{what} is {value}, outside {SMALLEST:g} to {LARGEST:g}.",
            "Check its unit, or fit it again.",
        )


def column_findings(field: str, columns: Sequence[str], cells: Cells) -> list[Finding]:
    """Slices are made of keys, each named once, and are few and distinct."""
    found = [
        Finding(field, f"{field} names {c!r}, which is not a key of this task.", hint)
        for c in columns
        if c not in cells.names
        for hint in [_known("keys", c, cells.names)]
    ]
    found += [
        Finding(field, f"{field} names {c!r} twice.", "Name each column once.")
        for c in dict.fromkeys(columns)
        if list(columns).count(c) > 1
    ]
    return found or _slices_too_many(field, columns, cells)


def _slices_too_many(field: str, columns: Sequence[str], cells: Cells) -> list[Finding]:
    count = slice_count(columns, cells)
    if count > MAX_SLICES:
        message = f"{field} makes {count:,} slices, more than {MAX_SLICES:,}."
        return [Finding(field, message, "Slice by columns with smaller domains.")]
    names = slice_names(columns, cells)
    if len(set(names)) < len(names):
        clash = next(n for n in names if names.count(n) > 1)
        message = f"Two slices of {field} have the same name, {clash!r}."
        return [Finding(field, message, "Use key values without a slash.")]
    return []


def slice_findings(
    field: str, given: Collection[str], columns: Sequence[str], cells: Cells
) -> list[Finding]:
    """Every slice of the domain is given, and nothing else."""
    names = slice_names(columns, cells)
    known = set(names)
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in known]
    over = " × ".join(columns) or "the task"
    found = [
        Finding(
            f"{field}.{name}",
            f"{field} has nothing for the slice {name!r}.",
            f"Every slice of {over} needs its own entry: add {name!r}.",
        )
        for name in missing[:_LISTED]
    ]
    found += [
        Finding(
            f"{field}.{name}",
            f"{field} names the slice {name!r}, which is not in the domain.",
            _known("slices", name, names),
        )
        for name in unknown[:_LISTED]
    ]
    rest = max(0, len(missing) - _LISTED) + max(0, len(unknown) - _LISTED)
    if rest:
        message = f"{rest} more slices of {field} are missing or unknown."
        found.append(Finding(field, message, f"Give one entry for each slice of {over}."))
    return found


def scale_findings(
    scales: Scales, columns: Sequence[str], cells: Cells, metrics: Sequence[str]
) -> list[Finding]:
    """Every (slice, metric) has a positive scale."""
    found = slice_findings("scales", scales, columns, cells)
    for name, row in scales.items():
        found += metric_findings(f"scales.{name}", row, metrics, what="scale")
        for metric, value in row.items():
            what = f"The scale of {metric} in {name!r}"
            found += number_findings(f"scales.{name}.{metric}", value, what=what)
    return found


def metric_findings(
    field: str, row: Collection[str], metrics: Sequence[str], *, what: str
) -> Iterator[Finding]:
    """Every metric is given, and nothing else."""
    for metric in metrics:
        if metric not in row:
            message = f"{field} has no {what} for the metric {metric!r}."
            yield Finding(f"{field}.{metric}", message, f"Add one for {metric!r}.")
    for metric in row:
        if metric not in metrics:
            message = f"{field} names {metric!r}, which is not a metric of this task."
            yield Finding(f"{field}.{metric}", message, _known("metrics", metric, metrics))


def _known(what: str, name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    shown = ", ".join(known[:_LISTED]) + (", …" if len(known) > _LISTED else "")
    return f"The {what} are {shown or 'none'}."
