"""SQL text to one syntax tree with the place of every node, within bounds on size and depth.

What is too large or too deep is turned away on its tokens, before a recursive parser sees it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, TypeVar

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from aggregation.compiler import bounds
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.parser import Parser

N = TypeVar("N", bound=exp.Expr)

_PREFIXES: Final = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
_OPENING: Final = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING: Final = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_PARAMETERS: Final = {TokenType.PLACEHOLDER, TokenType.PARAMETER, TokenType.SESSION_PARAMETER}
_START: Final = {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN}
_BEFORE_LISTS: Final = _OPENING | {
    TokenType.SELECT,
    TokenType.DISTINCT,
    TokenType.ALL,
    TokenType.GROUP_BY,
    TokenType.ORDER_BY,
    TokenType.FROM,
}
_AFTER_LISTS: Final = _CLOSING | {
    TokenType.COMMA,
    TokenType.SEMICOLON,
    TokenType.FROM,
    TokenType.WHERE,
    TokenType.GROUP_BY,
    TokenType.HAVING,
    TokenType.ORDER_BY,
    TokenType.LIMIT,
    TokenType.UNION,
    TokenType.EXCEPT,
    TokenType.INTERSECT,
}
# What opens a text, a quoted name or a comment ({# does for the parser), and the rest of it.
_OPENED: Final = re.compile(r"""['"`\[]|/\*|\{#|--""")
_UP_TO_ITS_END: Final = {
    "'": re.compile("(?:[^']|'')*+'"),
    '"': re.compile('(?:[^"]|"")*+"'),
    "`": re.compile("(?:[^`]|``)*+`"),
    "[": re.compile(r"[^\]]*\]"),
    "/*": re.compile(r".*?\*/", re.DOTALL),
    "{#": re.compile(r".*?#\}", re.DOTALL),
    "--": re.compile(".*"),
}
_SAID: Final = 60


@dataclass(frozen=True)
class Unparsed:
    """Why there is no tree. `rule` names the reason."""

    part: str
    text: str
    rule: str
    finding: Finding


@dataclass
class Statement:
    """One SQL part: its text, its tree, and where each node stands in the text."""

    part: str
    text: str
    root: exp.Expr
    nodes: list[exp.Expr] = field(default_factory=list)
    _starts: dict[int, int] = field(default_factory=dict)
    # Places go by identity, so nodes must live as long as the statement.
    _kept: list[exp.Expr] = field(default_factory=list)

    def at(self, node: exp.Expr) -> int:
        """Offset of a node's first character."""
        return self._starts.get(id(node), 0)

    def stand_in(self, node: exp.Expr, place_of: exp.Expr) -> None:
        """Give a node that was made later the place of one that was written."""
        self._starts[id(node)] = self.at(place_of)
        self._kept.append(node)

    def of(self, *classes: type[N]) -> Iterator[N]:
        """All nodes of these classes, outer ones first."""
        return (node for node in self.nodes if isinstance(node, classes))


def parse(part: str, text: str) -> Statement | Unparsed:
    """The tree of one statement, or the reason why there is none."""
    tokens = _tokens(part, text)
    if isinstance(tokens, Unparsed):
        return tokens
    refused = _refused_tokens(part, text, tokens)
    if refused is not None:
        return refused
    trees = _trees(part, text, tokens)
    if isinstance(trees, Unparsed):
        return trees
    if len(trees) != 1:
        return Unparsed(part, text, "one_statement", Finding("There is no statement.", _WRITE_ONE))
    return _placed(part, text, trees[0])


def _trees(part: str, text: str, tokens: list[Token]) -> list[exp.Expr] | Unparsed:
    try:
        parsed = Parser(dialect=SQLite()).parse(tokens, text)
    except ParseError as error:
        return _broken(part, text, error)
    except RecursionError:
        finding = Finding("The statement is nested too deeply.", "Name steps with WITH.")
        return Unparsed(part, text, "too_large", finding)
    except Exception:  # the parser's own faults, on syntax of dialects that devices do not have
        finding = Finding("The statement cannot be read.", "Write plain SQLite.")
        return Unparsed(part, text, "syntax", finding)
    # A comment after the last semicolon is no statement.
    return [t for t in parsed if t is not None and not isinstance(t, exp.Semicolon)]


def line_and_column(text: str, at: int) -> tuple[int, int]:
    """Both from 1."""
    breaks = [i for i, character in enumerate(text) if character == "\n"]
    line = bisect_right(breaks, at - 1)
    start = breaks[line - 1] + 1 if line else 0
    return line + 1, max(0, at - start) + 1


_WRITE_ONE: Final = "Write one SELECT."


def _tokens(part: str, text: str) -> list[Token] | Unparsed:
    if len(text) > bounds.MAX_SQL_CHARACTERS:
        message = f"The statement has {len(text):,} characters; at most "
        message += f"{bounds.MAX_SQL_CHARACTERS:,} are read."
        return Unparsed(part, text, "too_large", Finding(message, "Shorten it."))
    if not text.strip():
        return Unparsed(part, text, "one_statement", Finding("There is no statement.", _WRITE_ONE))
    odd = next((i for i, c in enumerate(text) if ord(c) < 32 and c not in "\t\r\n"), None)
    if odd is not None:
        message = f"The statement holds the control character {ord(text[odd])}."
        return Unparsed(part, text, "syntax", Finding(message, "Remove it.", at=odd))
    try:
        return list(SQLite().tokenize(text))
    except TokenError:
        message = "A text or a comment is opened and never closed."
        hint = "Close the quotation mark or the comment."
        return Unparsed(part, text, "syntax", Finding(message, hint, at=_never_closed(text)))


def _never_closed(text: str) -> int:
    """Where the first mark stands that opens something and has no partner."""
    at = 0
    while opened := _OPENED.search(text, at):
        closed = _UP_TO_ITS_END[opened[0]].match(text, opened.end())
        if closed is None:
            return opened.start()
        at = closed.end()
    return 0


def _refused_tokens(part: str, text: str, tokens: list[Token]) -> Unparsed | None:
    """Reasons that tokens alone give: size, depth, several statements, no query."""
    for rule, at, message, hint in _token_findings(tokens):
        return Unparsed(part, text, rule, Finding(message, hint, at=at))
    return None


def _token_findings(tokens: list[Token]) -> Iterator[tuple[str, int, str, str]]:
    content = [t for t in tokens if t.token_type is not TokenType.SEMICOLON]
    if not content:
        yield "one_statement", 0, "There is no statement.", _WRITE_ONE
        return
    if len(tokens) > bounds.MAX_TOKENS:
        message = f"The statement has {len(tokens):,} words and signs; at most "
        yield "too_large", 0, f"{message}{bounds.MAX_TOKENS:,} are read.", "Shorten it."
    deep = _too_deep(tokens)
    if deep is not None:
        message, hint = "The statement is nested too deeply here.", "Name steps with WITH."
        yield "too_large", deep.start, message, hint
    first = content[0]
    if first.token_type not in _START:
        message = f"A query begins with SELECT or WITH, not with {first.text[:_SAID].upper()}."
        yield "select_only", first.start, message, "Only queries run on devices."
    for token in content:
        dollar = token.token_type is TokenType.VAR and token.text.startswith("$")
        if dollar or token.token_type in _PARAMETERS:
            message = "A parameter has no value on a device."
            yield "parameter", token.start, message, "Write the value."
    for token in _loose_commas(tokens):
        message = "A comma stands here with nothing on one side of it."
        yield "syntax", token.start, message, "Remove it, or write what is missing."
    for before, after in pairwise(tokens):
        ends = before.token_type is TokenType.SEMICOLON and before.start > first.start
        if ends and after.token_type is not TokenType.SEMICOLON:
            yield "one_statement", after.start, "There are several statements.", "Keep one SELECT."


def _loose_commas(tokens: list[Token]) -> Iterator[Token]:
    """The parser passes over them; SQLite does not."""
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.token_type is TokenType.COMMA and (
            before is None
            or after is None
            or before.token_type in _BEFORE_LISTS
            or after.token_type in _AFTER_LISTS
        ):
            yield token


def _too_deep(tokens: list[Token]) -> Token | None:
    brackets = cases = prefixes = selects = 0
    for token in tokens:
        kind = token.token_type
        brackets += (kind in _OPENING) - (kind in _CLOSING)
        cases += (kind is TokenType.CASE) - (kind is TokenType.END and cases > 0)
        prefixes = prefixes + 1 if kind in _PREFIXES else 0
        selects += kind is TokenType.SELECT
        if (
            brackets > bounds.MAX_BRACKETS
            or cases > bounds.MAX_CASE_DEPTH
            or prefixes > bounds.MAX_PREFIXES
            or selects > bounds.MAX_SELECTS
        ):
            return token
    return None


def _broken(part: str, text: str, error: ParseError) -> Unparsed:
    first = error.errors[0] if error.errors else {}
    line, column = first.get("line"), first.get("col")
    at = _offset(text, line, column, len(str(first.get("highlight") or "")))
    seen = str(first.get("highlight") or "")[:_SAID]
    message = f"The statement cannot be read at {seen!r}." if seen else "The statement breaks off."
    hint = "Check for a missing comma, bracket or quotation mark."
    return Unparsed(part, text, "syntax", Finding(message, hint, at=at))


def _offset(text: str, line: Any, column: Any, length: int) -> int:
    """The parser gives the last column of the word it could not read."""
    if not isinstance(line, int) or not isinstance(column, int):
        return 0
    starts = [0, *(i + 1 for i, character in enumerate(text) if character == "\n")]
    start = starts[min(line, len(starts)) - 1]
    return max(0, min(start + column - max(length, 1), len(text)))


def _placed(part: str, text: str, root: exp.Expr) -> Statement | Unparsed:
    """Give each node its place: its own, or the first of what it holds."""
    statement = Statement(part, text, root)
    deepest, stack = 0, [(root, 1)]
    while stack:
        node, depth = stack.pop()
        deepest = max(deepest, depth)
        statement.nodes.append(node)
        stack.extend((child, depth + 1) for child in node.iter_expressions())
    for node in reversed(statement.nodes):
        start = _start(node, statement._starts)
        if start is not None:
            statement._starts[id(node)] = start
    for node in statement.nodes:
        if id(node) not in statement._starts and node.parent is not None:
            statement._starts[id(node)] = statement.at(node.parent)
    if deepest > bounds.MAX_TREE_DEPTH:
        finding = Finding("The statement is too deep.", "Name steps with WITH, or use IN.")
        return Unparsed(part, text, "too_large", finding)
    return statement


def _start(node: exp.Expr, starts: dict[int, int]) -> int | None:
    meta = node._meta or {}
    own = [meta["start"]] if "start" in meta else []
    inside = [starts[id(child)] for child in node.iter_expressions() if id(child) in starts]
    return min([*own, *inside], default=meta.get("last"))
