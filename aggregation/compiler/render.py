"""A bound query as canonical SQLite text: one spelling per meaning, none of it the analyst's.

Steps are named t1, t2 … in the order they are needed, sources s1, s2 …; comments, case, layout
and the analyst's own aliases for tables are gone. Only names of columns and literals remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Final

from aggregation.compiler.tree import (
    Aggregate,
    Arithmetic,
    Between,
    Block,
    Call,
    Cast,
    Choose,
    Compare,
    Expr,
    Facts,
    Join,
    Logic,
    Negate,
    Not,
    Null,
    Number,
    OneOf,
    OneOfQuery,
    Ref,
    Select,
    Single,
    Source,
    Text,
    Union,
)
from aggregation.compiler.walks import blocks, selects
from aggregation.protocol import device_facts
from aggregation.protocol.streams import Stream

# SQLite's reserved words, as far as they can be column names at all.
_WORDS: Final = {
    "add", "all", "alter", "and", "as", "autoincrement", "between", "by", "case", "check",
    "collate", "commit", "constraint", "create", "cross", "current_date", "current_time",
    "current_timestamp", "default", "deferrable", "delete", "distinct", "drop", "else", "end",
    "escape", "except", "exists", "foreign", "from", "full", "glob", "group", "having", "if",
    "in", "index", "inner", "insert", "intersect", "into", "is", "isnull", "join", "left",
    "like", "limit", "match", "natural", "no", "not", "nothing", "notnull", "null", "of",
    "offset", "on", "or", "order", "outer", "over", "primary", "references", "regexp", "returning",
    "right", "rollback", "select", "set", "table", "then", "to", "transaction", "union", "unique",
    "update", "using", "values", "view", "when", "where", "window", "with", "without",
}  # fmt: skip
_ATOMS: Final = Ref | Number | Text | Null | Call | Aggregate | Cast | Choose | Single
# Longer chains are halved with brackets, so that they stay within SQLite's depth.
_CHAIN: Final = 6


def render(main: Select) -> str:
    """One statement; its columns in the order of the items."""
    order = [b for b in blocks(main) if b is not main]
    sources = [source.relation for select in selects(main) for source in select.sources]
    streams = {relation.name for relation in sources if isinstance(relation, Stream)}
    free = (name for number in count(1) if (name := f"t{number}") not in streams)
    names = {id(block): name for block, name in zip(order, free, strict=False)}
    printer = _Printer(names)
    steps = [f"{names[id(b)]} AS ({printer.block(b)})" for b in order]
    start = f"WITH {', '.join(steps)} " if steps else ""
    return start + printer.select(main)


def identifier(name: str) -> str:
    return f'"{name}"' if name in _WORDS else name


@dataclass(frozen=True)
class _Printer:
    names: dict[int, str]

    def block(self, block: Block) -> str:
        if isinstance(block, Union):
            return " UNION ALL ".join(self._branch(branch, block) for branch in block.branches)
        return self.select(block)

    def _branch(self, branch: Block, union: Union) -> str:
        columns = ", ".join(
            f"s1.{identifier(own.name)} AS {identifier(common.name)}"
            for own, common in zip(branch.fields, union.fields, strict=True)
        )
        return f"SELECT {columns} FROM {self.names[id(branch)]} AS s1"  # noqa: S608 - own names

    def select(self, select: Select) -> str:
        items = ", ".join(
            f"{self.expression(i.value)} AS {identifier(i.name)}" for i in select.items
        )
        parts = [f"SELECT {'DISTINCT ' if select.distinct else ''}{items}"]
        if select.source is not None:
            parts.append(f"FROM {self._source(select.source)}")
        parts += [self._join(join) for join in select.joins]
        if select.where is not None:
            parts.append(f"WHERE {self.expression(select.where)}")
        if select.group:
            parts.append(f"GROUP BY {', '.join(self._group_term(t) for t in select.group)}")
        if select.having is not None:
            parts.append(f"HAVING {self.expression(select.having)}")
        return " ".join(parts)

    def _group_term(self, term: Expr) -> str:
        text = self.expression(term)
        # A bare whole number would be read as a column's position.
        return f"CAST({text} AS INTEGER)" if isinstance(term, Number | Negate) else text

    def _source(self, source: Source) -> str:
        relation = source.relation
        if isinstance(relation, Stream):
            return f"{identifier(relation.name)} AS {source.name}"
        if isinstance(relation, Facts):
            return f"{device_facts.TABLE} AS {source.name}"
        return f"{self.names[id(relation)]} AS {source.name}"

    def _join(self, join: Join) -> str:
        word = "LEFT JOIN" if join.left else "JOIN"
        on = f" ON {self.expression(join.on)}" if join.on is not None else ""
        return f"{word} {self._source(join.source)}{on}"

    def expression(self, expr: Expr) -> str:  # noqa: PLR0911, PLR0912 - one line per shape
        match expr:
            case Ref(source, field):
                return f"{source}.{identifier(field.name)}"
            case Number(text):
                return text
            case Text(value):
                return "'" + value.replace("'", "''") + "'"
            case Null():
                return "NULL"
            case Arithmetic(sign, left, right) | Compare(sign, left, right):
                return f"{self._operand(left)} {sign} {self._operand(right)}"
            case Negate(value):
                return f"-{self._operand(value)}"
            case Not(value):
                return f"NOT {self._operand(value)}"
            case Logic(word, items):
                return self._chain(word, items)
            case Between(value, low, high):
                given = [self._operand(e) for e in (value, low, high)]
                return f"{given[0]} BETWEEN {given[1]} AND {given[2]}"
            case OneOf(value, items):
                listed = ", ".join(self.expression(i) for i in items)
                return f"{self._operand(value)} IN ({listed})"
            case OneOfQuery(value, block):
                return f"{self._operand(value)} IN ({self._only_column(block)})"
            case Single(block):
                return f"({self._only_column(block)})"
            case Choose(branches, default):
                return self._choose(branches, default)
            case Call(name, arguments):
                listed = ", ".join(self.expression(a) for a in arguments)
                return f"{name.upper()}({listed})"
            case Cast(value, to):
                return f"CAST({self.expression(value)} AS {to})"
            case Aggregate():
                return self._aggregate(expr)
            case _:
                raise ValueError("A refused expression cannot be written.")

    def _operand(self, expr: Expr) -> str:
        text = self.expression(expr)
        return text if isinstance(expr, _ATOMS) else f"({text})"

    def _chain(self, word: str, items: tuple[Expr, ...]) -> str:
        if len(items) <= _CHAIN:
            return f" {word} ".join(self._operand(i) for i in items)
        half = len(items) // 2
        return f"({self._chain(word, items[:half])}) {word} ({self._chain(word, items[half:])})"

    def _only_column(self, block: Block) -> str:
        column = identifier(block.fields[0].name)
        return f"SELECT s1.{column} FROM {self.names[id(block)]} AS s1"  # noqa: S608 - own names

    def _choose(self, branches: tuple[tuple[Expr, Expr], ...], default: Expr | None) -> str:
        cases = " ".join(
            f"WHEN {self.expression(condition)} THEN {self.expression(value)}"
            for condition, value in branches
        )
        otherwise = f" ELSE {self.expression(default)}" if default is not None else ""
        return f"CASE {cases}{otherwise} END"

    def _aggregate(self, expr: Aggregate) -> str:
        """FILTER as CASE: aggregates pass over NULL, and older SQLite has no FILTER."""
        inner = "*" if expr.value is None else self.expression(expr.value)
        if expr.where is not None:
            counted = "1" if expr.value is None else inner
            inner = f"CASE WHEN {self.expression(expr.where)} THEN {counted} END"
        return f"{expr.name.upper()}({'DISTINCT ' if expr.distinct else ''}{inner})"
