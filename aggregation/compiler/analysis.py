"""From SQL text to bound, judged queries: parse, rules on syntax, binding, rules on meaning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from aggregation.compiler.bind import Binder
from aggregation.compiler.contract import outputs_of
from aggregation.compiler.guard import (
    cost,
    eligibility,
    functions,
    joins,
    meaning,
    output,
    server,
    shapes,
    syntax,
    unions,
    unseen,
    warnings,
)
from aggregation.compiler.guard.output import ClientQuery
from aggregation.compiler.guard.server import ServerQuery
from aggregation.compiler.parse import Statement, Unparsed, parse
from aggregation.compiler.rules import Verdicts
from aggregation.compiler.scope import fact_tables, result_tables, stream_tables
from aggregation.compiler.sqlite_reading import not_read_by_sqlite
from aggregation.compiler.tree import Block, Opaque, Select, Union
from aggregation.compiler.walks import blocks, expressions, walk
from aggregation.protocol.streams import Catalog, Stream

# Rules on one SELECT that also make sense where devices' results are summed.
_ALSO_ON_SERVER = (
    meaning.too_deep,
    meaning.mixed_types,
    meaning.window_computed,
    meaning.aggregate_place,
    meaning.output_name,
)


@dataclass(frozen=True)
class Checked:
    """A parsed statement, and the nodes that rules on syntax refused."""

    statement: Statement
    refused: frozenset[int]


@dataclass(frozen=True)
class Analyst:
    """Judges the queries of one spec."""

    catalog: Catalog
    declared: tuple[str, ...]
    verdicts: Verdicts

    def read(self, part: str, text: str) -> Checked | None:
        """Parse one part and put its tree before the rules on syntax.

        A text that is not what it looks like is not read on: what else is wrong with it would be
        said of words that nobody sees.
        """
        self.verdicts.texts[part] = text
        if self.verdicts.give(unseen.RULE, part, unseen.in_sql(text)):
            return None
        parsed = parse(part, text)
        if isinstance(parsed, Unparsed):
            self.verdicts.give(parsed.rule, part, [parsed.finding])
            return None
        refused: set[int] = set()
        for rule in (*syntax.RULES, *functions.RULES):
            for node, finding in rule(parsed):
                if id(node) not in refused and self.verdicts.give(rule.__name__, part, [finding]):
                    refused.update(id(inner) for inner in node.walk())
        for node, finding in shapes.unsupported(parsed, refused):
            if self.verdicts.give("unsupported", part, [finding]):
                refused.add(id(node))
        self.verdicts.give("order_ignored", part, warnings.order_ignored(parsed))
        return Checked(parsed, frozenset(refused))

    def read_by_sqlite(self) -> None:
        """What no rule has refused is SQLite's to read as well."""
        for part, text in self.verdicts.texts.items():
            if not self.verdicts.refused_in(part):
                self.verdicts.give("syntax", part, not_read_by_sqlite(text))

    def client(self, checked: Checked) -> ClientQuery:
        binder = self.client_binder(checked)
        return self.judged_client(binder, binder.query(checked.statement.root))

    def judged_client(self, binder: Binder, main: Block) -> ClientQuery:
        """The rules on meaning, over every SELECT, and on what leaves the device."""
        part = binder.statement.part
        for select in binder.bound:
            for rule in (*meaning.RULES, joins.multiplied_rows):
                self.verdicts.give(rule.__name__, part, rule(select))
        self._expect_none_opaque(binder)
        self.verdicts.give("too_large", part, cost.too_large(main))
        for block in blocks(main):
            if isinstance(block, Union):
                self.verdicts.give("repeated_stream", part, joins.repeated_stream(block))
                self.verdicts.give("window_computed", part, unions.window_in_union(block))
                self.verdicts.give("mixed_types", part, unions.types_in_union(block))
        query = ClientQuery(main, outputs_of(main), self._streams())
        for output_rule in output.RULES:
            self.verdicts.give(output_rule.__name__, part, output_rule(query))
        return query

    def server(self, checked: Checked, root: exp.Expr, client: ClientQuery) -> ServerQuery:
        """Bind and judge the server query over what the client query gives out."""
        names = stream_tables(self.catalog, ()).taken
        known = not self.verdicts.refused_in("sql", "client_sql")
        taken = tuple(n for n in names if n != "device_results")
        tables = result_tables(client.main.fields, taken, known=known)
        binder = Binder(
            checked.statement, tables, self.catalog.domain, self.verdicts, checked.refused
        )
        query = ServerQuery(binder.query(root), client.outputs, self._streams(), known)
        part = checked.statement.part
        for select in binder.bound if known else ():
            for rule in _ALSO_ON_SERVER:
                self.verdicts.give(rule.__name__, part, rule(select))
        for server_rule in server.RULES:
            self.verdicts.give(server_rule.__name__, part, server_rule(query))
        return query

    def eligibility(self, checked: Checked) -> Block:
        binder = Binder(
            checked.statement, fact_tables(), self.catalog.domain, self.verdicts, checked.refused
        )
        main = binder.query(checked.statement.root)
        part = checked.statement.part
        for select in binder.bound:
            for rule in (meaning.needs_source, meaning.too_deep, meaning.mixed_types):
                self.verdicts.give(rule.__name__, part, rule(select))
        for eligibility_rule in eligibility.RULES:
            self.verdicts.give(eligibility_rule.__name__, part, eligibility_rule(main))
        return main

    def _expect_none_opaque(self, binder: Binder) -> None:
        """Whatever could not be bound has been refused by name; else the rules have a hole."""
        tops = [*(top for s in binder.bound for top in expressions(s)), *binder.left_out]
        hole = any(isinstance(e, Opaque) for top in tops for e in walk(top))
        if hole and not self.verdicts.refused_in(binder.statement.part):
            raise ValueError("A refused expression has no refusal.")

    def client_binder(self, checked: Checked) -> Binder:
        tables = stream_tables(self.catalog, self.declared)
        return Binder(
            checked.statement, tables, self.catalog.domain, self.verdicts, checked.refused
        )

    def _streams(self) -> tuple[Stream, ...]:
        return tuple(s for s in self.catalog if s.name in self.declared)


def streams_read(main: Block) -> frozenset[str]:
    """The streams a query reads, in any of its steps."""
    return frozenset(
        source.relation.name
        for select in _selects(blocks(main))
        for source in select.sources
        if isinstance(source.relation, Stream)
    )


def _selects(found: Iterable[Block]) -> list[Select]:
    return [block for block in found if isinstance(block, Select)]
