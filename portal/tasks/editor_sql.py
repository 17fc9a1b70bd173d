"""SQL as the editor handles it: laid out anew, nested into one statement, taken apart again.

All of it moves whole tokens and comments about and never rewrites one, so no query can come out
meaning something else. What comes out is read again and compared: token by token, comment by
comment.
"""

import re
from dataclasses import dataclass

from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from aggregation.compiler.bounds import MAX_SQL_CHARACTERS, MAX_TOKENS
from aggregation.errors import Problem

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_TABLE = "device_results"


@dataclass(frozen=True)
class Comment:
    text: str
    # It stands on a line of its own.
    alone: bool

    @property
    def to_line_end(self) -> bool:
        return self.text.startswith("--")


@dataclass(frozen=True)
class Piece:
    """A token as it was written, and the comments before it."""

    kind: TokenType
    text: str
    start: int
    end: int
    comments: tuple[Comment, ...] = ()


@dataclass(frozen=True)
class Pieces:
    items: tuple[Piece, ...]
    # Comments after the last token.
    tail: tuple[Comment, ...]

    @property
    def said(self) -> list[str]:
        """What is written, without how: to compare two layouts by."""
        return [" ".join(p.text.split()).upper() if _is_word(p) else p.text for p in self.items]

    @property
    def comments(self) -> list[str]:
        found = [c.text.rstrip() for piece in self.items for c in piece.comments]
        return found + [c.text.rstrip() for c in self.tail]


def pieces_of(sql: str) -> Pieces:
    """The tokens of a query with the comments between them; a `Problem` where it has none."""
    if len(sql) > MAX_SQL_CHARACTERS:
        raise Problem("The query is too long to be laid out.", hint="Shorten it.")
    try:
        tokens: list[Token] = SQLite().tokenize(sql)
    except TokenError:
        raise Problem(
            "The query cannot be read: a quote or a comment does not end.", hint="Close it."
        ) from None
    if not tokens or len(tokens) > MAX_TOKENS:
        raise Problem("There is no query to lay out, or one that is too long.")
    items, at = [], 0
    for token in tokens:
        comments = _comments(sql[at : token.start], first=at == 0)
        text = sql[token.start : token.end + 1]
        items.append(Piece(token.token_type, text, token.start, token.end + 1, comments))
        at = token.end + 1
    return Pieces(tuple(items), _comments(sql[at:], first=False))


def combined(client_sql: str, server_sql: str) -> str:
    """One nested statement: the client query in the place of `device_results`."""
    server = pieces_of(server_sql)
    places = [i for i, p in enumerate(server.items) if _named(p) == _TABLE]
    tables = [i for i in places if server.items[i - 1].kind == TokenType.FROM]
    if len(places) != 1 or len(tables) != 1:
        raise Problem(
            "The two queries cannot be joined: the server query does not read device_results once.",
            hint="Write FROM device_results, and its columns without a table before them.",
        )
    table = server.items[tables[0]]
    inner = _indented(_without_end(client_sql))
    named = "" if _has_alias(server.items, tables[0]) else f" AS {_TABLE}"
    return f"{server_sql[: table.start]}(\n{inner}\n){named}{server_sql[table.end :]}"


def taken_apart(sql: str) -> tuple[str, str]:
    """The client query and the server query that one nested statement holds."""
    items = pieces_of(sql).items
    span = _inner_query(items)
    if span is None:
        raise Problem(
            "This statement cannot be taken apart by the editor.",
            hint="It can if it has the form SELECT … FROM (SELECT …) … with no steps before it.",
        )
    first, last = span
    client = _outdented(sql[items[first].end : items[last].start])
    alias, rest = _alias(items, last)
    named = "" if alias in ("", _TABLE) else f" AS {alias}"
    server = f"{sql[: items[first].start]}{_TABLE}{named}{sql[rest:]}"
    return client, server.strip() + "\n"


def _comments(gap: str, *, first: bool) -> tuple[Comment, ...]:
    found = []
    for match in _COMMENT.finditer(gap):
        before = gap[: match.start()]
        after = gap[match.end() :].lstrip(" \t")[:1]
        alone = ("\n" in before or (first and not before.strip())) and after == "\n"
        found.append(Comment(match[0], alone))
    return tuple(found)


def _is_word(piece: Piece) -> bool:
    return piece.text[:1].isalpha() and piece.kind not in (TokenType.VAR, TokenType.STRING)


def _named(piece: Piece) -> str:
    named = piece.kind in (TokenType.VAR, TokenType.IDENTIFIER)
    return piece.text.strip('"[]`').lower() if named else ""


def _has_alias(items: tuple[Piece, ...], at: int) -> bool:
    return at + 1 < len(items) and (
        items[at + 1].kind == TokenType.ALIAS or bool(_named(items[at + 1]))
    )


def _inner_query(items: tuple[Piece, ...]) -> tuple[int, int] | None:
    """The brackets around the query in the outermost FROM."""
    depth, opened = 0, None
    for at, piece in enumerate(items):
        if piece.kind == TokenType.WITH and depth == 0:
            return None
        if piece.kind == TokenType.L_PAREN:
            if depth == 0 and items[at - 1].kind == TokenType.FROM and opened is None:
                opened = at
            depth += 1
        elif piece.kind == TokenType.R_PAREN:
            depth -= 1
            if depth == 0 and opened is not None:
                is_query = items[opened + 1].kind in (TokenType.SELECT, TokenType.WITH)
                return (opened, at) if is_query else None
    return None


def _alias(items: tuple[Piece, ...], closing: int) -> tuple[str, int]:
    """The name after the brackets, and where the rest of the statement begins."""
    after = closing + 1
    if after < len(items) and items[after].kind == TokenType.ALIAS:
        after += 1
    name = _named(items[after]) if after < len(items) else ""
    return name, items[after].end if name else items[closing].end


def _without_end(sql: str) -> str:
    """Without the semicolons at its end; comments may stand after them."""
    for piece in reversed(pieces_of(sql).items):
        if piece.kind != TokenType.SEMICOLON:
            break
        sql = sql[: piece.start] + sql[piece.end :]
    return sql.strip()


def _indented(sql: str) -> str:
    return "\n".join(f"  {line}" if line.strip() else "" for line in sql.splitlines())


def _outdented(sql: str) -> str:
    lines = sql.strip("\n").rstrip().splitlines()
    first = lines[0].lstrip() if lines else ""
    widths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    width = min(widths, default=0)
    kept = [
        first if i == 0 and widths and widths[0] == 0 else ln[width:] for i, ln in enumerate(lines)
    ]
    return "\n".join(line.rstrip() for line in kept).strip() + "\n"
