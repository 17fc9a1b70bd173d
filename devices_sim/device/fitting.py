"""Fitting: which events are of a stream, by their columns' types, domains and minima.

What an app reports is mostly right, and whole columns are looked at in a fraction of the time that
one value after the other takes. So a look at the columns comes first. It never lets anything pass
that a look at each value would not; where it is not sure, that look decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, cast

from aggregation.errors import Problem
from aggregation.ondevice.events import Event, event_columns
from aggregation.protocol.streams import Catalog, Column, Stream


def stream_of(name: str, catalog: Catalog) -> Stream:
    stream = catalog.stream(name)
    if stream is None:
        names = ", ".join(each.name for each in catalog)
        raise Problem(f"This phone has no stream {name!r}.", hint=f"It has {names}.")
    return stream


@lru_cache(maxsize=64)
def fit_of(name: str, catalog: Catalog) -> Fit:
    stream = stream_of(name, catalog)
    columns = [column for name in event_columns(stream) if (column := stream.column(name))]
    return Fit(columns, catalog)


class Fit:
    """Tells events of a stream from others."""

    def __init__(self, columns: Sequence[Column], catalog: Catalog) -> None:
        self._misfits = [misfit_of(column, catalog) for column in columns]
        self._all_fit = [_all_fit_of(column, catalog) for column in columns]

    def __call__(self, event: Event) -> bool:
        if len(event.values) != len(self._misfits) or not math.isfinite(event.time):
            return False
        values = zip(event.values, self._misfits, strict=True)
        return not any(misfit(value) for value, misfit in values)

    def of(self, events: Iterable[Event]) -> list[Event]:
        """Those that fit."""
        given = list(events)
        return given if self._all(given) else [event for event in given if self(event)]

    def _all(self, events: Sequence[Event]) -> bool:
        """Whether all surely fit."""
        times, _, rows = zip(*events, strict=True) if events else ((), (), ())
        if {len(self._misfits)}.issuperset(map(len, rows)) and math.isfinite(sum(times)):
            columns = zip(*rows, strict=True)
            return all(fits(column) for fits, column in zip(self._all_fit, columns, strict=False))
        return False


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "text": (str,),
    "integer": (int,),
    "real": (int, float),
}


def misfit_of(column: Column, catalog: Catalog) -> Callable[[object], str]:
    """Says what is wrong with a value of this column; empty if nothing is."""
    kinds, members, minimum = _rules(column, catalog)

    def misfit(value: object) -> str:
        if value is None:
            return "" if column.nullable else "is empty"
        if type(value) not in kinds:
            return f"is not of type {column.type}"
        if members is not None and value not in members:
            return "is not in the column's domain"
        if isinstance(value, int | float) and not minimum <= value < math.inf:
            return f"is not a number from {minimum:g} on"
        return ""

    return misfit


def _all_fit_of(column: Column, catalog: Catalog) -> Callable[[Sequence[object]], bool]:
    """Whether none of these values is a misfit; it may say no where that is not plain."""
    kinds, members, minimum = _rules(column, catalog)
    types = {*kinds, type(None)} if column.nullable else set(kinds)

    def all_fit(values: Sequence[object]) -> bool:
        # Types first: only then can values be looked up, compared and added.
        if not types.issuperset(map(type, values)):
            return False
        if column.nullable:
            values = [value for value in values if value is not None]
        if members is not None and not members.issuperset(values):
            return False
        if column.type == "text" or not values:
            return True
        return _are_from(minimum, cast(Sequence[float], values))

    return all_fit


def _are_from(minimum: float, numbers: Sequence[float]) -> bool:
    """The sum tells what a comparison could miss: anything that is not a number."""
    try:
        return min(numbers) >= minimum and -math.inf < sum(numbers) < math.inf
    except OverflowError:
        return False


def _rules(
    column: Column, catalog: Catalog
) -> tuple[tuple[type, ...], frozenset[object] | None, float]:
    members = frozenset(catalog.domain(column.domain)) if column.domain else None
    minimum = -math.inf if column.minimum is None else column.minimum
    return _TYPES[column.type], members, minimum
