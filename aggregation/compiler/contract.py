"""What a client query gives out: its keys, its window and its metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aggregation.compiler.origins import FromWindow, Undecided
from aggregation.compiler.tree import WINDOW, Block, Field, Select
from aggregation.compiler.uniqueness import unique_fields


@dataclass(frozen=True)
class Outputs:
    """The columns of a client query by their role.

    Keys are what its rows are grouped by, and so tell two of them apart; all else is a metric.
    """

    keys: tuple[Field, ...]
    windows: tuple[Field, ...]
    metrics: tuple[Field, ...]
    # Whether rows are groups at all, and by the window too.
    grouped: bool
    grouped_by_window: bool
    # Metrics that are a key once more, under another name → that key.
    repeats: Mapping[str, str]


def outputs_of(main: Block) -> Outputs:
    unique = unique_fields(main)
    names = unique or frozenset()
    windows = tuple(f for f in main.fields if _is_window(f))
    rest = [f for f in main.fields if f not in windows]
    keys = tuple(f for f in rest if f.name in names)
    metrics = tuple(f for f in rest if f.name not in names)
    return Outputs(
        keys=keys,
        windows=windows,
        metrics=metrics,
        grouped=unique is not None,
        grouped_by_window=any(w.name in names for w in windows),
        repeats=_repeats(main, keys, metrics),
    )


def _repeats(main: Block, keys: Iterable[Field], metrics: Iterable[Field]) -> dict[str, str]:
    values = {i.name: i.value for i in main.items} if isinstance(main, Select) else {}
    of_keys = {k.name: values.get(k.name) for k in keys}
    return {
        metric.name: key
        for metric in metrics
        for key, value in of_keys.items()
        if value is not None and value == values.get(metric.name)
    }


def _is_window(field: Field) -> bool:
    if isinstance(field.origin, Undecided):
        return field.name == WINDOW
    return isinstance(field.origin, FromWindow)
