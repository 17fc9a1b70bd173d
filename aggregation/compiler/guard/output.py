"""Rules on what leaves a device: keys from closed sets, the window, and numbers. Nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from aggregation.compiler.contract import Outputs
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard.names import output_name
from aggregation.compiler.lineage import is_closed
from aggregation.compiler.origins import FromChoice, FromColumn
from aggregation.compiler.tree import WINDOW, Block, Field, Opaque, Select
from aggregation.compiler.uniqueness import outputs as given_out
from aggregation.compiler.walks import aggregates
from aggregation.protocol.streams import Column, Stream


@dataclass(frozen=True)
class ClientQuery:
    """A bound client query as a whole."""

    main: Block
    outputs: Outputs
    # The streams it may read.
    streams: tuple[Stream, ...]

    def at(self, field: Field) -> int:
        """Where a column is written."""
        items = self.main.items if isinstance(self.main, Select) else ()
        return next((i.at for i in items if i.name == field.name), self.main.at)


OutputRule = Callable[[ClientQuery], Iterator[Finding]]


def raw_rows(query: ClientQuery) -> Iterator[Finding]:
    """What leaves a device are groups, one row each, never rows of events."""
    main = query.main
    if isinstance(main, Select) and not main.known:
        return
    if query.outputs.grouped and not (isinstance(main, Select) and _plain_distinct(main)):
        return
    if isinstance(main, Select) and aggregates(main):
        return  # group_not_selected says what is missing
    message = "The query gives out single rows, not groups."
    hint = "Aggregate them: GROUP BY the keys and privacy_time_unit."
    yield Finding(message, hint, at=main.at)


def _plain_distinct(select: Select) -> bool:
    return select.distinct and not aggregates(select)


def group_not_selected(query: ClientQuery) -> Iterator[Finding]:
    """Rows that cannot be told apart by their keys would be pieces of a group."""
    main = query.main
    if not isinstance(main, Select) or not aggregates(main) or not main.known:
        return
    for term in main.group or ():
        if not isinstance(term, Opaque) and given_out(main, [term]) is None:
            message = "The query groups by this, but does not select it."
            yield Finding(message, "Select it too, or do not group by it.", at=term.at)


def window_missing(query: ClientQuery) -> Iterator[Finding]:
    """Every row belongs to the window it was computed in."""
    outputs = query.outputs
    if isinstance(query.main, Select) and not query.main.known:
        return
    if any(f.name == WINDOW and f not in outputs.windows for f in query.main.fields):
        return  # something poses as the window: window_computed says so
    if not outputs.windows:
        message = "The query does not give out privacy_time_unit."
        yield Finding(message, "Select privacy_time_unit and group by it.", at=query.main.at)
    elif outputs.grouped and not outputs.grouped_by_window:
        message = "The query is not grouped by privacy_time_unit."
        hint = "Add privacy_time_unit to GROUP BY."
        yield Finding(message, hint, at=query.at(outputs.windows[0]))
    elif outputs.windows[0].may_be_empty:
        message = "privacy_time_unit is missing where the LEFT JOIN finds nothing."
        hint = "Select that of the side that is always there."
        yield Finding(message, hint, at=query.at(outputs.windows[0]))


def window_once(query: ClientQuery) -> Iterator[Finding]:
    for extra in query.outputs.windows[1:]:
        message = "privacy_time_unit is given out more than once."
        yield Finding(message, "Select it once.", at=query.at(extra))


def key_domain(query: ClientQuery) -> Iterator[Finding]:
    """Noise goes on every cell, so the cells must be known: keys come from closed sets."""
    for key in query.outputs.keys:
        if not is_closed(key.origin):
            yield Finding(*not_a_key(key), at=query.at(key))


def not_a_key(field: Field) -> tuple[str, str]:
    """Why a value cannot be a key, and what can."""
    hint = "Keys are columns with a domain, or CASE … THEN 'label' over literals."
    if isinstance(field.origin, FromColumn):
        return f"{field.name} has no declared domain, so it cannot be a key.", hint
    how = getattr(field.origin, "how", "something else")
    return f"{field.name} is {how}, so it cannot be a key.", hint


def repeated_key(name: str, key: str) -> tuple[str, str]:
    return f"{name} is the key {key} under another name.", f"Use {key}, and leave {name} out."


def metric_type(query: ClientQuery) -> Iterator[Finding]:
    """Only numbers can be summed across devices."""
    for metric in query.outputs.metrics if query.outputs.grouped else ():
        if metric.type == "text" and (key := query.outputs.repeats.get(metric.name)):
            yield Finding(*repeated_key(metric.name, key), at=query.at(metric))
        elif metric.type in ("text", "null"):
            what = "text" if metric.type == "text" else "nothing"
            message = f"{metric.name} is {what}, but a metric is a number."
            hint = "Aggregate a number, or group by this column to make it a key."
            yield Finding(message, hint, at=query.at(metric))


def no_metric(query: ClientQuery) -> Iterator[Finding]:
    if query.outputs.grouped and not query.outputs.metrics:
        message = "The query has no metric."
        yield Finding(message, "Add one, such as COUNT(*) AS n.", at=query.main.at)


def column_names(query: ClientQuery) -> Iterator[Finding]:
    """Columns that leave have names."""
    for item in query.main.items if isinstance(query.main, Select) else ():
        finding = output_name(item.name, item.at, named=item.named)
        if finding is not None and not item.named and not isinstance(item.value, Opaque):
            yield finding


def misleading_name(query: ClientQuery) -> Iterator[Finding]:
    """A value that takes a key column's name would pass for it in review."""
    yield from misleading(query.main.fields, query.streams, query.at)


def misleading(
    fields: tuple[Field, ...], streams: tuple[Stream, ...], at: Callable[[Field], int]
) -> Iterator[Finding]:
    protected = {c.name: c for s in streams for c in s.columns if c.domain or not c.queryable}
    for field in fields:
        column = protected.get(field.name)
        if column is not None and not _stands_for(field, column):
            message = f"{field.name} is the name of a stream's column, but this is another value."
            yield Finding(message, "Choose another name.", at=at(field))


def _stands_for(field: Field, column: Column) -> bool:
    if field.type == "unknown" or field.name == WINDOW:
        return True
    origin = field.origin
    if isinstance(origin, FromColumn):
        return origin.column.name == column.name
    # A metric may be the sum of a numeric column of that name, such as SUM(rating) AS rating.
    return isinstance(origin, FromChoice) or (column.queryable and column.type != "text")


RULES: Final[tuple[OutputRule, ...]] = (
    raw_rows,
    group_not_selected,
    window_missing,
    window_once,
    key_domain,
    metric_type,
    no_metric,
    column_names,
    misleading_name,
)
