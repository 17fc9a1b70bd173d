"""The parser, which also remembers where nodes begin and which brackets were written."""

from __future__ import annotations

from typing import Any, TypeVar

from sqlglot import exp
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokenizer_core import Token

N = TypeVar("N", bound=exp.Expr)


class Parser(SQLiteParser):
    """Where nodes begin: clauses, types and functions at their keyword, others at a word."""

    # MOD(a, b) divides real numbers where SQLite has it; the parser makes it a % b, which does not.
    FUNCTIONS = {n: made for n, made in SQLiteParser.FUNCTIONS.items() if n != "MOD"}

    def expression(self, instance: N, token: Any = None, comments: Any = None) -> N:
        result = super().expression(instance, token=token, comments=comments)
        if result._meta is None or "start" not in result._meta:
            result.meta.setdefault("last", self._prev.start if self._prev else 0)
        return result

    def _parse_function_call(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        return self._begun(self._curr, super()._parse_function_call(*args, **kwargs))

    def _parse_select_query(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        return self._begun(self._curr, super()._parse_select_query(*args, **kwargs))

    def _parse_paren(self) -> exp.Expr | None:
        node = super()._parse_paren()
        if isinstance(node, exp.Paren):
            node.meta["written"] = True
        return node

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        token, found = self._curr, super()._parse_types(*args, **kwargs)
        return self._begun(token, found) if isinstance(found, exp.DataType) else found

    def _parse_limit(self, this: Any = None, *args: Any, **kwargs: Any) -> exp.Expr | None:
        return self._begun(self._curr, super()._parse_limit(this, *args, **kwargs), this)

    def _parse_offset(self, this: Any = None) -> exp.Expr | None:
        return self._begun(self._curr, super()._parse_offset(this), this)

    def _begun(self, token: Token, node: exp.Expr | None, given: Any = None) -> exp.Expr | None:
        if isinstance(node, exp.Expr) and node is not given and token:
            node.meta.setdefault("start", token.start)
        return node


def without_added_brackets(node: exp.Expr) -> exp.Expr:
    """What stands in the text: the parser brackets its own reading where it sees a doubt."""
    while isinstance(node, exp.Paren) and not node.meta.get("written"):
        node = node.this
    return node
