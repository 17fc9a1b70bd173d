"""Bind a query: the parser's tree to our own, with every name resolved in its scope.

Each look-up is put before the rules on names. What a rule has refused, and what this small
language has no word for, becomes `Opaque`: the rest of the query can still be judged, and a query
with anything opaque in it never leaves the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from aggregation.compiler import bounds
from aggregation.compiler.bind_expression import Expressions, folded
from aggregation.compiler.bind_group import group_terms
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.emptiness import may_be_empty, present_in
from aggregation.compiler.guard import names
from aggregation.compiler.lineage import common_field, origin_of, type_of
from aggregation.compiler.parse import Statement
from aggregation.compiler.rules import Verdicts
from aggregation.compiler.scope import Relation, Scope, Tables
from aggregation.compiler.tree import (
    Block,
    Compare,
    Expr,
    Field,
    Item,
    Join,
    Logic,
    Opaque,
    Ref,
    Select,
    Source,
    Union,
)
from aggregation.protocol.ranks import DomainOf

Steps = dict[str, Block]


@dataclass
class Binder:
    """Binds the queries of one statement."""

    statement: Statement
    tables: Tables
    domain_of: DomainOf
    verdicts: Verdicts
    # Ids of nodes that a rule on syntax has refused.
    refused: frozenset[int] = frozenset()
    # Every SELECT bound so far, steps that nothing reads included.
    bound: list[Select] = field(default_factory=list)
    # What was judged and does not reach a device.
    left_out: list[Expr] = field(default_factory=list)
    # Nodes that stand in more than one place, counted each time.
    copied: int = 0

    def query(
        self, node: exp.Expr, steps: Steps | None = None, outer: Scope | None = None
    ) -> Block:
        """One query with all it contains."""
        while isinstance(node, exp.Subquery | exp.Paren):
            steps = self.steps(node, steps or {})
            node = node.this
        if isinstance(node, exp.Union):
            return self._union(node, self.steps(node, steps or {}), outer)
        if isinstance(node, exp.Select):
            return self.select(node, self.steps(node, steps or {}), outer)
        if id(node) not in self.refused:
            self.refuse("unsupported", node, "This is not a SELECT.", "Write a SELECT.")
        return _unknown(self.statement.at(node))

    def steps(self, node: exp.Expr, known: Steps) -> Steps:
        """The steps that WITH names, each able to read those before it."""
        with_ = node.args.get("with_")
        found = dict(known)
        for cte in with_.expressions if with_ else ():
            name = folded(cte.alias)
            at = self.statement.at(cte.args["alias"])
            # Between steps of one name around it and after it, SQLite takes the one after it.
            self._new_name(names.NewName(name, at, (*self.tables.taken, *found)))
            found[name] = self.renamed(self.query(cte.this, found), cte.args["alias"])
        return found

    def select(self, node: exp.Select, steps: Steps, outer: Scope | None = None) -> Select:
        scope = Scope(outer=outer)
        expressions = Expressions(self, scope, steps)
        source = self._from(node, scope, steps)
        joined, columns = node.args.get("joins") or (), node.expressions
        if len(joined) >= bounds.MAX_SOURCES or len(columns) > bounds.MAX_COLUMNS:
            message = f"A SELECT has at most {bounds.MAX_SOURCES} sources and "
            message += f"{bounds.MAX_COLUMNS} columns."
            self.refuse("too_large", node, message, "Split it into steps.")
            return _unknown(self.statement.at(node))
        joins = tuple(self._join(j, scope, steps, expressions) for j in joined)
        items = tuple(self._item(n, i, expressions) for i, n in enumerate(columns, 1))
        scope.items = items
        self._order(node, expressions)
        where, having = (
            expressions.bind(clause.this) if (clause := node.args.get(k)) else None
            for k in ("where", "having")
        )
        group = node.args.get("group")
        present = present_in((where, having), joins)
        select = Select(
            items=items,
            source=source,
            joins=joins,
            where=where,
            group=group_terms(self, group, expressions) if group else None,
            having=having,
            distinct=bool(node.args.get("distinct")),
            fields=tuple(self._field(item, present) for item in items),
            at=self.statement.at(node),
            known=not any(n.is_star for n in node.expressions),
        )
        self.bound.append(select)
        return select

    def _order(self, node: exp.Select, expressions: Expressions) -> None:
        """ORDER BY is left out, but it may name nothing that a query may not read."""
        order = node.args.get("order")
        for term in order.expressions if order else ():
            if not isinstance(term.this, exp.Literal):
                self.left_out.append(expressions.bind(term.this))

    def _from(self, node: exp.Select, scope: Scope, steps: Steps) -> Source | None:
        from_ = node.args.get("from_")
        return self._source(from_.this, scope, steps) if from_ else None

    def _source(self, node: exp.Expr, scope: Scope, steps: Steps) -> Source:
        at = self.statement.at(node)
        alias_node = node.args.get("alias")
        alias = folded(node.alias) if alias_node is not None else ""
        relation: Relation | None = None
        fields: tuple[Field, ...] = ()
        own = ""
        if isinstance(node, exp.Subquery) and id(node) not in self.refused:
            block = self.renamed(self.query(node.this, self.steps(node, steps)), alias_node)
            relation, fields = block, block.fields
        elif isinstance(node, exp.Table) and id(node) not in self.refused:
            own = folded(node.name)
            if alias_node is not None and alias_node.args.get("columns"):
                message = "A table's columns cannot be renamed by a list."
                self.refuse("column_list", node, message, "Use AS in SELECT.")
            relation, fields = self._table(node, own, steps, at)
        elif id(node) not in self.refused:
            message = "This is neither a stream nor a subquery in brackets."
            self.refuse("unsupported", node, message, "Read a stream or (SELECT …).")
        if relation is None:
            relation = _unknown(at)
        source = Source(f"s{len(scope.sources) + 1}", relation, fields, at)
        name = alias or own or source.name
        taken = (*self.tables.taken, *(n for n, _ in scope.sources))
        is_own = name == own and all(n != name for n, _ in scope.sources)
        if alias or own:
            self._new_name(names.NewName(name, at, taken, own=is_own))
        scope.sources.append((name, source))
        return source

    def _table(
        self, node: exp.Table, name: str, steps: Steps, at: int
    ) -> tuple[Relation | None, tuple[Field, ...]]:
        schema = str(node.args.get("db") or node.args.get("catalog") or "") or None
        if schema is None and name in steps:
            return steps[name], steps[name].fields
        lookup = self.tables.lookup(name, schema, at)
        for rule in names.TABLE_RULES:
            finding = rule(lookup)
            if finding and self.verdicts.give(rule.__name__, self.statement.part, [finding]):
                return None, ()
        if schema is None and lookup.declared:
            return self.tables.readable[name]
        return None, ()

    def renamed(self, block: Block, alias: exp.Expr | None) -> Block:
        """Apply a column list, `name(a, b)`: columns get new names and keep their origin."""
        columns = list(alias.args.get("columns") or ()) if alias is not None else []
        if not columns:
            return block
        if len(columns) != len(block.fields) and alias is not None:
            message = f"The list names {len(columns)} columns of {len(block.fields)}."
            self.refuse("column_list", alias, message, "Name every column once.")
            return block
        self._judge_list(columns)
        source = Source("s1", block, block.fields, block.at)
        items = tuple(
            Item(folded(c.name), Ref("s1", f, self.statement.at(c)), self.statement.at(c))
            for c, f in zip(columns, block.fields, strict=True)
        )
        fields = tuple(self._field(item) for item in items)
        return Select(items, source, (), None, None, None, False, fields, block.at)

    def _judge_list(self, columns: list[exp.Expr]) -> None:
        """The names that a column list gives, judged as those that AS gives."""
        seen: set[str] = set()
        for column in columns:
            name, at = folded(column.name), self.statement.at(column)
            if finding := names.output_name(name, at, named=True):
                self.verdicts.give("output_name", self.statement.part, [finding])
            if name in seen:
                message = f"Two columns are called {name[:60]}."
                self.refuse("column_list", column, message, "Give each its own name.")
            seen.add(name)

    def _join(self, node: exp.Join, scope: Scope, steps: Steps, expressions: Expressions) -> Join:
        left = list(scope.sources)
        is_left = str(node.args.get("side") or "").upper() == "LEFT"
        source = self._source(node.this, scope, steps)
        if is_left:
            source = scope.with_empty_rows(source)
        at = self.statement.at(node)
        using = node.args.get("using") or ()
        on: Expr | None = expressions.bind(node.args["on"]) if node.args.get("on") else None
        if id(node) in self.refused:
            on = Opaque(at)
        elif using:
            pairs = tuple(self._using(c, left, source, scope) for c in using)
            on = pairs[0] if len(pairs) == 1 else Logic("AND", pairs, at)
        return Join(source, on, is_left, at)

    def _using(
        self, column: exp.Expr, left: list[tuple[str, Source]], source: Source, scope: Scope
    ) -> Expr:
        name, at = folded(column.name), self.statement.at(column)
        before = Scope(sources=left, merged=dict(scope.merged))
        found, there = before.find(name, None), source.field(name)
        if len(found) != 1 or there is None:
            message = f"USING names {name[:60]}, which is not one column on each side."
            self.refuse("unknown_column", column, message, "Write ON a.column = b.column.")
            return Opaque(at)
        one = replace(found[0], at=at)
        scope.merged[name] = one
        return Compare("=", one, Ref(source.name, there, at), at)

    def _item(self, node: exp.Expr, place: int, expressions: Expressions) -> Item:
        at = self.statement.at(node)
        if isinstance(node, exp.Alias):
            return Item(folded(node.alias), expressions.bind(node.this), at)
        value = expressions.bind(node)
        inner = node
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.Column) and not inner.is_star:
            return Item(folded(inner.name), value, at)
        return Item(f"column_{place}", value, at, named=False)

    def _field(self, item: Item, present: frozenset[Expr] = frozenset()) -> Field:
        value = item.value
        origin = origin_of(value, self.domain_of)
        return Field(item.name, type_of(value), origin, may_be_empty(value, present))

    def _union(self, node: exp.Union, steps: Steps, outer: Scope | None) -> Union:
        parts: list[exp.Expr] = []
        rest: exp.Expr = node
        while isinstance(rest, exp.Union) and (rest is node or not rest.args.get("with_")):
            parts.append(rest.expression)
            rest = rest.this
        branches = tuple(self.query(p, steps, outer) for p in (rest, *reversed(parts)))
        widths = {len(b.fields) for b in branches}
        if len(widths) != 1:
            message = "The SELECTs of this UNION ALL have different numbers of columns."
            self.refuse("union_columns", node, message, "Give each the same columns.")
        columns = zip(*(b.fields for b in branches), strict=False)
        fields = tuple(common_field(c, self.domain_of) for c in columns)
        return Union(branches, fields, self.statement.at(node))

    def _new_name(self, new: names.NewName) -> None:
        finding = names.shadowing(new)
        if finding:
            self.verdicts.give("shadowing", self.statement.part, [finding])

    def refuse(self, rule: str, node: exp.Expr, message: str, hint: str) -> None:
        finding = Finding(message, hint, at=self.statement.at(node))
        self.verdicts.give(rule, self.statement.part, [finding])


def _unknown(at: int) -> Select:
    """Stands where something was refused that would have been a relation."""
    return Select((), None, (), None, None, None, False, (), at, known=False)
