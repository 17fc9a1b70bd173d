"""Rules on the server query: it sums across devices, by keys and window, and does nothing else.

It is never executed; it says what is summed. Choosing among devices' results (WHERE, HAVING,
LIMIT, DISTINCT) would need them one by one, and nobody ever sees them so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from aggregation.compiler.contract import Outputs
from aggregation.compiler.derive import derive
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard.names import output_name
from aggregation.compiler.guard.output import misleading, not_a_key, repeated_key
from aggregation.compiler.lineage import is_closed, type_of
from aggregation.compiler.origins import FromWindow
from aggregation.compiler.tree import (
    Aggregate,
    Block,
    Expr,
    Field,
    Item,
    OneOfQuery,
    Opaque,
    Ref,
    Results,
    Select,
    Single,
    Union,
)
from aggregation.compiler.uniqueness import outputs as given_out
from aggregation.compiler.walks import expressions, walk
from aggregation.protocol.streams import Stream


@dataclass(frozen=True)
class ServerQuery:
    """A bound server query, and what the client query gives it."""

    main: Block
    inputs: Outputs
    streams: tuple[Stream, ...]
    # Whether the client query was accepted, so that its columns are known.
    known: bool = True

    @property
    def select(self) -> Select | None:
        return self.main if isinstance(self.main, Select) else None

    @property
    def group(self) -> tuple[Expr, ...]:
        return (self.select.group or ()) if self.select else ()

    @property
    def group_known(self) -> bool:
        """Whether nothing it groups by was refused, and could have been any column."""
        return not any(isinstance(term, Opaque) for term in self.group)

    def key_columns(self) -> list[tuple[str, Field]]:
        """Grouped columns other than the window: published name, client field."""
        return [
            (item.name, item.value.field)
            for item in (self.select.items if self.select else ())
            if item.value in self.group
            and isinstance(item.value, Ref)
            and not isinstance(item.value.field.origin, FromWindow)
        ]

    def measures(self) -> list[Item]:
        """Columns that are not grouped by."""
        return [i for i in (self.select.items if self.select else ()) if i.value not in self.group]


# Names that a result has for something else: DuckDB's word for the number of a row, which no column
# of a file can have beside it, and the emissions that are worked out of a release.
TAKEN: Final = {
    "file_row_number": "is what readers of Parquet call the number of a row",
    "co2e_kg": "is the name of the emissions that are worked out of a release",
}
ServerRule = Callable[[ServerQuery], Iterator[Finding]]


def server_source(query: ServerQuery) -> Iterator[Finding]:
    """One SELECT over device_results."""
    hint = "Write SELECT … FROM device_results GROUP BY …."
    select = query.select
    if isinstance(query.main, Union) or select is None:
        yield Finding("The server query is one SELECT.", hint, at=query.main.at)
        return
    for join in select.joins:
        yield Finding("The server query joins nothing.", hint, at=join.at)
    source = select.source
    if source is not None and source.known and not isinstance(source.relation, Results):
        message = "The server query reads device_results directly."
        yield Finding(message, hint, at=source.at)
    for top in expressions(select):
        for expr in walk(top):
            if isinstance(expr, Single | OneOfQuery):
                yield Finding("The server query has no subqueries.", hint, at=expr.at)


def server_filter(query: ServerQuery) -> Iterator[Finding]:
    """Devices' results cannot be chosen among."""
    if query.select is None:
        return
    message = "The server cannot filter what devices send."
    hint = "Filter in client_sql, on the device."
    for condition in (query.select.where, query.select.having):
        if condition is not None:
            yield Finding(message, hint, at=condition.at)
    for top in expressions(query.select):
        for expr in walk(top):
            if isinstance(expr, Aggregate) and expr.where is not None:
                yield Finding(message, hint, at=expr.at)


def cross_device_aggregation(query: ServerQuery) -> Iterator[Finding]:
    """Every column is grouped by, or aggregated across devices."""
    select = query.select
    if select is None:
        return
    hint = "Group by the keys and privacy_time_unit, and SUM the metrics."
    if select.distinct:
        yield Finding("DISTINCT does not aggregate across devices.", hint, at=select.at)
    if select.group is None:
        yield Finding("The server query does not aggregate by keys and window.", hint, at=select.at)
        return
    measures = query.measures()
    if not measures:
        yield Finding("The server query sums nothing.", hint, at=select.at)
    for item in measures if query.group_known else ():
        if type_of(item.value) != "unknown" and not _aggregated(item.value):
            message = f"{item.name} is not aggregated across devices."
            yield Finding(message, hint, at=item.at)


def server_window(query: ServerQuery) -> Iterator[Finding]:
    """Each window is released on its own."""
    if query.select is None or query.select.group is None or not query.known:
        return
    windows = [t for t in query.group if _is_window(t)]
    if not windows and query.group_known:
        message = "The server query is not grouped by privacy_time_unit."
        yield Finding(message, "Add privacy_time_unit to GROUP BY.", at=query.select.at)
    elif windows and given_out(query.select, windows[:1]) is None:
        message = "The server query does not give out privacy_time_unit."
        yield Finding(message, "Select privacy_time_unit too.", at=query.select.at)


def server_key(query: ServerQuery) -> Iterator[Finding]:
    """Groups are formed by keys of the client query, as they are."""
    for term in query.group:
        if _is_window(term) or type_of(term) == "unknown":
            continue
        if not isinstance(term, Ref):
            message = "The server groups by columns of device_results only."
            yield Finding(message, "Compute the key in client_sql.", at=term.at)
        elif query.known and term.field in query.inputs.metrics:
            yield Finding(*_no_key(query, term.field), at=term.at)


def _no_key(query: ServerQuery, field: Field) -> tuple[str, str]:
    key = query.inputs.repeats.get(field.name)
    if key is not None:
        return repeated_key(field.name, key)
    if is_closed(field.origin):
        hint = "Group by it in client_sql too, or aggregate it."
        return f"The client query does not group by {field.name}.", hint
    return not_a_key(field)


def server_group_not_selected(query: ServerQuery) -> Iterator[Finding]:
    if query.select is None:
        return
    for term in query.group:
        judged = not _is_window(term) and not isinstance(term, Opaque)
        if judged and given_out(query.select, [term]) is None:
            message = "The server query groups by this, but does not select it."
            yield Finding(message, "Select it too, or do not group by it.", at=term.at)


def server_measure(query: ServerQuery) -> Iterator[Finding]:
    """What is published can be had from sums alone."""
    aggregated = [
        item
        for item in query.measures()
        if type_of(item.value) != "unknown" and _aggregated(item.value)
    ]
    yield from derive(aggregated, ()).findings


def server_column_names(query: ServerQuery) -> Iterator[Finding]:
    seen: set[str] = set()
    for item in query.select.items if query.select else ():
        if not item.named and not isinstance(item.value, Opaque):
            finding = output_name(item.name, item.at, named=False)
            if finding is not None:
                yield finding
        if item.name in seen:
            message = f"Two columns are called {item.name[:60]}."
            yield Finding(message, "Give each its own name.", at=item.at)
        if item.name in TAKEN:
            message = f"{item.name} {TAKEN[item.name]}."
            yield Finding(message, "Choose another name.", at=item.at)
        seen.add(item.name)
    places = {i.name: i.at for i in (query.select.items if query.select else ())}
    own = tuple(f for f in query.main.fields if f not in (*query.inputs.keys,))
    yield from misleading(own, query.streams, lambda f: places.get(f.name, 0))


def _aggregated(value: Expr) -> bool:
    return any(isinstance(e, Aggregate) for e in walk(value))


def _is_window(term: Expr) -> bool:
    return isinstance(term, Ref) and isinstance(term.field.origin, FromWindow)


RULES: Final[tuple[ServerRule, ...]] = (
    server_source,
    server_filter,
    cross_device_aggregation,
    server_window,
    server_key,
    server_group_not_selected,
    server_measure,
    server_column_names,
)
