"""What a client query gives out: its keys, its window and its metrics."""

from __future__ import annotations

from dataclasses import dataclass

from aggregation.compiler.origins import FromWindow, Undecided
from aggregation.compiler.tree import WINDOW, Block, Field
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


def outputs_of(main: Block) -> Outputs:
    unique = unique_fields(main)
    names = unique or frozenset()
    windows = tuple(f for f in main.fields if _is_window(f))
    rest = [f for f in main.fields if f not in windows]
    return Outputs(
        keys=tuple(f for f in rest if f.name in names),
        windows=windows,
        metrics=tuple(f for f in rest if f.name not in names),
        grouped=unique is not None,
        grouped_by_window=any(w.name in names for w in windows),
    )


def _is_window(field: Field) -> bool:
    if isinstance(field.origin, Undecided):
        return field.name == WINDOW
    return isinstance(field.origin, FromWindow)
