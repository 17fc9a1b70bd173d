"""Split one nested statement: its outermost SELECT runs across devices, all below on each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from aggregation.compiler.analysis import Analyst, Checked
from aggregation.compiler.bind_expression import folded
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard.output import ClientQuery

_NESTED = (
    "Write SELECT … FROM (SELECT … FROM stream GROUP BY …) GROUP BY …: the inner query runs on "
    "each device, the outer one sums across devices."
)


@dataclass(frozen=True)
class Halves:
    """The client query, and the tree of the server query over `device_results`."""

    client: ClientQuery
    server: exp.Select


def split(analyst: Analyst, checked: Checked) -> Halves | None:
    """Both halves, or nothing where the statement is not nested (and the rule says so)."""
    statement = checked.statement
    outer = statement.root
    while isinstance(outer, exp.Subquery | exp.Paren):
        outer = outer.this
    from_ = outer.args.get("from_") if isinstance(outer, exp.Select) else None
    inner = from_.this if from_ is not None else None
    binder = analyst.client_binder(checked)
    steps = binder.steps(outer, {})
    if isinstance(outer, exp.Select) and isinstance(inner, exp.Subquery):
        main = binder.renamed(binder.query(inner, steps), inner.args.get("alias"))
    elif isinstance(outer, exp.Select) and isinstance(inner, exp.Table) and _step(inner) in steps:
        main = steps[_step(inner)]
    else:
        message = "The statement does not say what happens on a device and what across devices."
        finding = Finding(message, _NESTED, at=statement.at(outer))
        analyst.verdicts.give("cross_device_aggregation", statement.part, [finding])
        return None
    return Halves(analyst.judged_client(binder, main), _over_results(checked, outer, inner))


def _step(table: exp.Table) -> str:
    """The step a table names; nothing if it is named with a schema."""
    return "" if table.args.get("db") else folded(table.name)


def _over_results(checked: Checked, outer: exp.Select, inner: exp.Expr) -> exp.Select:
    """The outer SELECT with device_results in the place of the inner query."""
    alias = inner.args.get("alias")
    name = alias.this if alias is not None else exp.to_identifier(inner.name or "device_results")
    table = exp.Table(
        this=exp.to_identifier("device_results"), alias=exp.TableAlias(this=name.copy())
    )
    rest = {k: v for k, v in outer.args.items() if k not in ("with_", "from_")}
    server = exp.Select(**rest, from_=exp.From(this=table))
    checked.statement.stand_in(server, outer)
    checked.statement.stand_in(table, inner)
    return server
