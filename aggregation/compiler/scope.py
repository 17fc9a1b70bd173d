"""Scopes: what a name stands for at a place in a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aggregation.compiler.guard.names import RESERVED, ColumnLookup, TableLookup
from aggregation.compiler.lineage import column_field
from aggregation.compiler.origins import FromColumn
from aggregation.compiler.tree import Block, Expr, Facts, Field, Item, Ref, Results, Source
from aggregation.protocol import device_facts
from aggregation.protocol.streams import Catalog, Column, Stream

Relation = Stream | Block | Facts | Results


@dataclass(frozen=True)
class Tables:
    """The tables a query of one kind may read, and the names it may not take."""

    readable: Mapping[str, tuple[Relation, tuple[Field, ...]]]
    installed: frozenset[str]
    taken: tuple[str, ...]

    def lookup(self, name: str, schema: str | None, at: int) -> TableLookup:
        return TableLookup(
            name=name,
            at=at,
            schema=schema,
            declared=name in self.readable,
            installed=name in self.installed,
            readable=tuple(self.readable),
        )


def stream_tables(catalog: Catalog, declared: tuple[str, ...]) -> Tables:
    """What a client query reads: the declared streams."""
    readable: dict[str, tuple[Relation, tuple[Field, ...]]] = {}
    for stream in catalog:
        if stream.name in declared:
            fields = tuple(column_field(stream.name, c) for c in stream.columns)
            readable[stream.name] = (stream, fields)
    names = frozenset(s.name for s in catalog)
    return Tables(readable, names, (*sorted(names), *sorted(RESERVED)))


def fact_tables() -> Tables:
    """What an eligibility query reads: `device_facts`, never a stream."""
    columns = [Column(name=n, type="integer", description="") for n in device_facts.COLUMNS]
    fields = tuple(Field(c.name, "number", FromColumn(device_facts.TABLE, c)) for c in columns)
    return Tables({device_facts.TABLE: (Facts(), fields)}, frozenset(), tuple(sorted(RESERVED)))


def result_tables(fields: tuple[Field, ...], taken: tuple[str, ...], *, known: bool) -> Tables:
    """What a server query reads: the union of what all devices send."""
    return Tables({"device_results": (Results(known), fields)}, frozenset(), taken)


@dataclass
class Scope:
    """The sources of one SELECT under the analyst's names, and its aliases."""

    sources: list[tuple[str, Source]] = field(default_factory=list)
    # Columns merged by USING → the left one.
    merged: dict[str, Ref] = field(default_factory=dict)
    items: tuple[Item, ...] = ()
    outer: Scope | None = None

    def find(self, name: str, table: str | None) -> list[Ref]:
        if table is None and name in self.merged:
            return [self.merged[name]]
        return [
            Ref(source.name, f)
            for alias, source in self.sources
            if table in (None, alias)
            for f in source.fields
            if f.name == name
        ]

    def with_empty_rows(self, source: Source) -> Source:
        """The source last named, as a LEFT JOIN has it: without a partner, all of it is NULL."""
        name, _ = self.sources[-1]
        fields = tuple(replace(f, may_be_empty=True) for f in source.fields)
        self.sources[-1] = (name, replace(source, fields=fields))
        return self.sources[-1][1]

    def may_have_more(self, table: str | None) -> bool:
        """Whether a source that was refused could have had the column."""
        return any(not s.known for alias, s in self.sources if table in (None, alias))

    def alias(self, name: str) -> Expr | None:
        """The value of a SELECT's column by its alias, as WHERE, GROUP BY and HAVING see it."""
        found = [item.value for item in self.items if item.name == name and item.named]
        return found[0] if len(found) == 1 else None

    def lookup(self, name: str, table: str | None, *, quoted: bool, at: int) -> ColumnLookup:
        found = self.find(name, table)
        return ColumnLookup(
            name=name,
            table=table,
            quoted=quoted,
            at=at,
            hits=len({ref.source for ref in found}),
            column=_stream_column(found[0].field) if found else None,
            known=tuple(f.name for _, s in self.sources for f in s.fields if _queryable(f)),
            table_known=table is None or any(alias == table for alias, _ in self.sources),
            outside=self._outside(name, table),
        )

    def _outside(self, name: str, table: str | None) -> bool:
        scope = self.outer
        while scope is not None:
            if scope.find(name, table):
                return True
            scope = scope.outer
        return False


def _stream_column(field: Field) -> Column | None:
    return field.origin.column if isinstance(field.origin, FromColumn) else None


def _queryable(field: Field) -> bool:
    """Whether a hint may name it: what no query can read is nobody's slip of the pen."""
    column = _stream_column(field)
    return column is None or column.queryable
