"""Bind expressions: one method per shape the small language has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from aggregation.compiler import bounds
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard import names
from aggregation.compiler.scope import Scope
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
    Logic,
    Negate,
    Not,
    Null,
    Number,
    OneOf,
    OneOfQuery,
    Opaque,
    Ref,
    Single,
    Text,
)
from aggregation.compiler.walks import walk

if TYPE_CHECKING:
    from aggregation.compiler.bind import Binder

_ARITHMETIC: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
}
_COMPARISONS: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Is: "IS",
    exp.NullSafeEQ: "IS",
    exp.NullSafeNEQ: "IS NOT",
}
_AGGREGATES: Final[dict[type[exp.Expr], str]] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_LIST_CALLS: Final[dict[type[exp.Expr], str]] = {
    exp.Coalesce: "coalesce",
    exp.Greatest: "max",
    exp.Least: "min",
}
_WHOLE: Final = {exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT}


def folded(name: str) -> str:
    """SQLite compares names without case, in ASCII; other letters stay what they are."""
    return "".join(c.lower() if c.isascii() else c for c in name)


@dataclass
class Expressions:
    """Binds the expressions of one SELECT."""

    binder: Binder
    scope: Scope
    steps: dict[str, Block]

    def bind(self, node: exp.Expr) -> Expr:
        while isinstance(node, exp.Paren):
            node = node.this
        at = self.binder.statement.at(node)
        if id(node) in self.binder.refused:
            return Opaque(at)
        method = _METHODS.get(type(node))
        if method is not None:
            return method(self, node, at)
        return self._opaque(node, at)

    def _opaque(self, node: exp.Expr, at: int) -> Opaque:
        finding = Finding("This cannot be used in a query here.", "Write it in another way.", at=at)
        self.binder.verdicts.give("unsupported", self.binder.statement.part, [finding])
        return Opaque(at)

    def _column(self, node: Any, at: int) -> Expr:
        if node.is_star:
            said = id(node.this) in self.binder.refused
            return Opaque(at) if said else self._opaque(node, at)
        name, table = folded(node.name), folded(node.table) or None
        if node.args.get("db"):
            return self._of_a_schema(table or "", str(node.args["db"]), at)
        quoted = bool(node.this.args.get("quoted"))
        found = self.scope.find(name, table)
        if not found and table is None:
            alias = self.scope.alias(name)
            if alias is not None:
                return replace(alias, at=at) if isinstance(alias, Ref) else self.again(alias, at)
        if not found and self.scope.may_have_more(table):
            return Opaque(at)
        lookup = self.scope.lookup(name, table, quoted=quoted, at=at)
        for rule in names.COLUMN_RULES:
            finding = rule(lookup)
            if finding is not None:
                self.binder.verdicts.give(rule.__name__, self.binder.statement.part, [finding])
                return Opaque(at)
        # Two columns of one name in one source: that is refused where they get their names.
        return replace(found[0], at=at) if len(found) == 1 else Opaque(at)

    def _of_a_schema(self, table: str, schema: str, at: int) -> Opaque:
        lookup = self.binder.tables.lookup(table, schema, at)
        if finding := names.qualified_table(lookup):
            self.binder.verdicts.give("qualified_table", self.binder.statement.part, [finding])
        return Opaque(at)

    def again(self, value: Expr, at: int, times: int = 1) -> Expr:
        """The same value in one more place: by its alias, by its position, or as a CASE's subject.

        Written out it stands there in full, and copies of copies would grow without end. So they
        are counted while they are made, and what is too much is refused before anyone walks it.
        """
        if self.binder.copied <= bounds.MAX_EXPANDED:
            self.binder.copied += times * sum(1 for _ in walk(value))
        if self.binder.copied <= bounds.MAX_EXPANDED:
            return value
        message = f"Written out, the query has more than {bounds.MAX_EXPANDED:,} parts."
        hint = "Compute the value once, in a step of its own (WITH), and use its column."
        self.binder.verdicts.give(
            "too_large", self.binder.statement.part, [Finding(message, hint, at=at)]
        )
        return Opaque(at)

    def _literal(self, node: Any, at: int) -> Expr:
        if node.is_string:
            return Text(node.name, at)
        digits = node.name
        return Number(str(int(digits)) if digits.isdigit() else repr(float(digits)), at)

    def _boolean(self, node: Any, at: int) -> Expr:
        return Number("1" if node.this else "0", at)

    def _null(self, _node: Any, at: int) -> Expr:
        return Null(at)

    def _negate(self, node: Any, at: int) -> Expr:
        return Negate(self.bind(node.this), at)

    def _not(self, node: Any, at: int) -> Expr:
        return Not(self.bind(node.this), at)

    def _arithmetic(self, node: Any, at: int) -> Expr:
        sign = _ARITHMETIC[type(node)]
        return Arithmetic(sign, self.bind(node.this), self.bind(node.expression), at)

    def _comparison(self, node: Any, at: int) -> Expr:
        sign = _COMPARISONS[type(node)]
        if sign.startswith("IS") and isinstance(node.expression.unnest(), exp.Boolean):
            held = self._truth(node, at)
            return Not(held, at) if sign == "IS NOT" else held
        return Compare(sign, self.bind(node.this), self.bind(node.expression), at)

    def _truth(self, node: Any, at: int) -> Expr:
        """x IS TRUE holds for any number but 0, x IS FALSE for 0 alone, neither for NULL."""
        yes = bool(node.expression.unnest().this)
        known = Call("coalesce", (self.bind(node.this), Number("0" if yes else "1")), at)
        return Compare("<>" if yes else "=", known, Number("0"), at)

    def _logic(self, node: Any, at: int) -> Expr:
        """AND and OR chains as one node each, so that long ones stay shallow."""
        kind, items = type(node), []
        stack = [node]
        while stack:
            top = stack.pop()
            if type(top) is kind and id(top) not in self.binder.refused:
                stack += [top.expression, top.this]
            else:
                items.append(self.bind(top))
        return Logic("AND" if kind is exp.And else "OR", tuple(items), at)

    def _between(self, node: Any, at: int) -> Expr:
        low, high = self.bind(node.args["low"]), self.bind(node.args["high"])
        return Between(self.bind(node.this), low, high, at)

    def _in(self, node: Any, at: int) -> Expr:
        value, query = self.bind(node.this), node.args.get("query")
        if query is None:
            items = tuple(self.bind(e) for e in node.expressions)
            return OneOf(value, items, at) if items else self._opaque(node, at)
        block = self.binder.query(query, self.steps, self.scope)
        return OneOfQuery(value, block, at)

    def _single(self, node: Any, at: int) -> Expr:
        return Single(self.binder.query(node, self.steps, self.scope), at)

    def _case(self, node: Any, at: int) -> Expr:
        subject = self.bind(node.this) if node.this is not None else None
        if subject is not None:
            subject = self.again(subject, at, times=len(node.args["ifs"]))
        branches = []
        for branch in node.args["ifs"]:
            condition = self.bind(branch.this)
            if subject is not None:
                condition = Compare("=", subject, condition, condition.at)
            branches.append((condition, self.bind(branch.args["true"])))
        default = node.args.get("default")
        return Choose(tuple(branches), self.bind(default) if default else None, at)

    def _if(self, node: Any, at: int) -> Expr:
        otherwise = node.args.get("false")
        branch = (self.bind(node.this), self.bind(node.args["true"]))
        return Choose((branch,), self.bind(otherwise) if otherwise else None, at)

    def _cast(self, node: Any, at: int) -> Expr:
        return Cast(self.bind(node.this), "INTEGER" if node.to.this in _WHOLE else "REAL", at)

    def _list_call(self, node: Any, at: int) -> Expr:
        arguments = tuple(self.bind(e) for e in (node.this, *node.expressions))
        return Call(_LIST_CALLS[type(node)], arguments, at)

    def _abs(self, node: Any, at: int) -> Expr:
        return Call("abs", (self.bind(node.this),), at)

    def _round(self, node: Any, at: int) -> Expr:
        given = [node.this, node.args.get("decimals")]
        return Call("round", tuple(self.bind(e) for e in given if e is not None), at)

    def _nullif(self, node: Any, at: int) -> Expr:
        return Call("nullif", (self.bind(node.this), self.bind(node.expression)), at)

    def _aggregate(self, node: Any, at: int) -> Expr:
        value = node.this
        if isinstance(value, exp.Distinct) and len(value.expressions) != 1:
            said = id(value) in self.binder.refused
            return Opaque(at) if said else self._opaque(node, at)
        if isinstance(value, exp.Distinct):
            return Aggregate(_AGGREGATES[type(node)], self.bind(value.expressions[0]), True, at=at)
        if value is None or isinstance(value, exp.Star):
            known = isinstance(node, exp.Count)
            return Aggregate("count", None, at=at) if known else self._opaque(node, at)
        return Aggregate(_AGGREGATES[type(node)], self.bind(value), at=at)

    def _anonymous(self, node: Any, at: int) -> Expr:
        if folded(str(node.name)) == "total" and len(node.expressions) == 1:
            return Aggregate("total", self.bind(node.expressions[0]), at=at)
        return self._opaque(node, at)

    def _filter(self, node: Any, at: int) -> Expr:
        inner = self.bind(node.this)
        if not isinstance(inner, Aggregate) or inner.where is not None:
            return inner if isinstance(inner, Opaque) else self._opaque(node, at)
        return replace(inner, where=self.bind(node.expression.this))


_METHODS: Final[dict[type[exp.Expr], Callable[[Expressions, Any, int], Expr]]] = {
    exp.Column: Expressions._column,
    exp.Literal: Expressions._literal,
    exp.Boolean: Expressions._boolean,
    exp.Null: Expressions._null,
    exp.Neg: Expressions._negate,
    exp.Not: Expressions._not,
    exp.And: Expressions._logic,
    exp.Or: Expressions._logic,
    exp.Between: Expressions._between,
    exp.In: Expressions._in,
    exp.Subquery: Expressions._single,
    exp.Case: Expressions._case,
    exp.If: Expressions._if,
    exp.Cast: Expressions._cast,
    exp.Abs: Expressions._abs,
    exp.Round: Expressions._round,
    exp.Nullif: Expressions._nullif,
    exp.Anonymous: Expressions._anonymous,
    exp.Filter: Expressions._filter,
    **dict.fromkeys(_ARITHMETIC, Expressions._arithmetic),
    **dict.fromkeys(_COMPARISONS, Expressions._comparison),
    **dict.fromkeys(_AGGREGATES, Expressions._aggregate),
    **dict.fromkeys(_LIST_CALLS, Expressions._list_call),
}
