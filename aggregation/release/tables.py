"""Tables: what people see of a release. Suppressed, derived, with every number's interval.

Only published columns are here: hidden metrics and columns the task does not publish are gone,
and the numbers of suppressed rows are not numbers (NaN), so no reader can show them by mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.part import Floats
from aggregation.protocol.ranks import Cells
from aggregation.protocol.server_config import Derived, ServerConfig
from aggregation.release.estimates import Estimates
from aggregation.release.intervals import combined
from aggregation.release.ratios import ratio
from aggregation.release.suppression import Reasons, passes, reasons, sentences

# Rows of a large release that are made at a time.
CHUNK = 1 << 17


@dataclass(frozen=True, eq=False)
class Note:
    """A few words beside each row of a column."""

    name: str
    # Which of the texts each row has.
    codes: NDArray[np.uint8]
    texts: tuple[str, ...]
    # Rows of which nothing is said.
    absent: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Column:
    """One published number per row; NaN throughout where it is suppressed."""

    name: str
    values: Floats
    # Of the interval at 95 %: noise and clip uncertainty together.
    half_width: Floats
    noise_half_width: Floats
    # What undoing the clip loss added, as a share (ρ − 1).
    clip_correction: Floats
    # None where the task has no fit of it: then the interval is of the noise alone.
    clip_uncertainty: Floats | None
    # What is said of single rows of this column, such as why a ratio is missing.
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False)
class Table:
    """Some or all rows over one set of keys, in the order of their ranks."""

    cells: Cells
    # The rank of the first row.
    first: int
    columns: tuple[Column, ...]
    reasons: Reasons
    # What each reason reads.
    sentences: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.reasons)

    def column(self, name: str) -> Column:
        return next(c for c in self.columns if c.name == name)


def published_columns(config: ServerConfig) -> tuple[str, ...]:
    """The value columns people see: sums that are not hidden, then what is derived."""
    columns = [m for m in config.metrics if m not in config.hidden]
    columns += [derived.name for derived in config.derived]
    shown = config.publish_columns
    return tuple(c for c in columns if shown is None or c in shown)


def table(
    estimates: Estimates, config: ServerConfig, *, first: int = 0, count: int | None = None
) -> Table:
    """The published rows from `first` on."""
    end = len(estimates.values) if count is None else min(first + count, len(estimates.values))
    rows = slice(first, end)
    why = reasons(estimates, config.suppression, rows)
    derived = {d.name: d for d in config.derived}
    columns = [
        _derived(estimates, config, derived[name], rows, why)
        if name in derived
        else _metric(estimates, name, rows, why)
        for name in published_columns(config)
    ]
    return Table(
        estimates.cells,
        first,
        tuple(columns),
        why,
        sentences(config.suppression, estimates.metrics),
    )


def chunks(estimates: Estimates, config: ServerConfig) -> Iterator[Table]:
    """All rows, in pieces that take little memory."""
    for first in range(0, len(estimates.values), CHUNK):
        yield table(estimates, config, first=first, count=CHUNK)


def _metric(estimates: Estimates, name: str, rows: slice, why: Reasons) -> Column:
    place = estimates.metric(name)
    given = estimates.correction
    return shown(
        name,
        values=estimates.values[rows, place],
        noise=estimates.law.noise.half_width[estimates.classes[rows], place],
        correction=np.broadcast_to((given if len(given) == 1 else given[rows])[:, place], len(why)),
        clip=None if estimates.clip is None else estimates.clip[rows, place],
        kept=why == 0,
    )


def _derived(
    estimates: Estimates, config: ServerConfig, derived: Derived, rows: slice, why: Reasons
) -> Column:
    made = ratio(estimates, derived, rows)
    denominator = estimates.metric(derived.denominator)
    known = passes(estimates, config.suppression, denominator, rows)
    known &= np.isfinite(made.noise_half_width)
    share = f"{100 * config.suppression.max_relative_noise:g} %"
    lost = f"The noise is more than {share} of its denominator, {derived.denominator}."
    note = Note("suppressed", np.zeros(len(why), np.uint8), (lost,), known | (why > 0))
    return shown(
        derived.name,
        values=made.values,
        noise=made.noise_half_width,
        correction=made.clip_correction,
        clip=made.clip_uncertainty,
        kept=(why == 0) & known,
        notes=(note,),
    )


def shown(
    name: str,
    *,
    values: Floats,
    noise: Floats,
    correction: Floats,
    clip: Floats | None,
    kept: NDArray[np.bool_],
    notes: tuple[Note, ...] = (),
) -> Column:
    """A column with nothing left where it is not kept."""

    def only(numbers: Floats) -> Floats:
        found: Floats = np.where(kept, numbers, np.nan)
        return found

    return Column(
        name=name,
        values=only(values),
        half_width=only(combined(noise, clip)),
        noise_half_width=only(noise),
        clip_correction=only(correction),
        clip_uncertainty=None if clip is None else only(clip),
        notes=notes,
    )
