"""Lay out a query: a clause a line, columns under each other, AND and WHEN at the line's start."""

from dataclasses import dataclass, field

from sqlglot.tokenizer_core import TokenType as T

from aggregation.errors import Problem
from portal.tasks.editor_sql import Comment, Piece, Pieces, pieces_of

WIDTH = 92
_CLAUSES = frozenset(
    [T.SELECT, T.FROM, T.WHERE, T.GROUP_BY, T.HAVING, T.ORDER_BY, T.LIMIT, T.UNION, T.WITH]
)
_LISTS = frozenset([T.SELECT, T.GROUP_BY])
_CONDITIONS = frozenset([T.WHERE, T.HAVING, T.ON])
_JOINS = frozenset([T.JOIN, T.LEFT, T.INNER, T.CROSS])
_NAMES = frozenset([T.VAR, T.IDENTIFIER, T.DOT, T.STAR])
# Words that SQLite reserves, so that they are never a name whose spelling counts.
_SHOUTED = frozenset(("AS", "CASE", "WHEN", "THEN", "ELSE", "AND", "OR", "NOT", "IN", "IS", "NULL"))
_SHOUTED |= {"DISTINCT", "JOIN", "ON", "USING", "BETWEEN", "EXISTS"}
_TIGHT_BEFORE = frozenset([T.COMMA, T.R_PAREN, T.SEMICOLON, T.DOT])
_TIGHT_AFTER = frozenset([T.L_PAREN, T.DOT])
_CALLED = frozenset([T.VAR, T.IDENTIFIER])
_SIGNS = frozenset([T.DASH, T.PLUS])


def formatted(sql: str) -> str:
    """The same query, laid out. A `Problem` where it cannot be read or would come out changed."""
    before = pieces_of(sql)
    text = _Layout(before).run()
    after = pieces_of(text)
    if after.said != before.said or sorted(after.comments) != sorted(before.comments):
        raise Problem("This query cannot be laid out without changing it.", hint="It is as it was.")
    return text


@dataclass
class _Query:
    """A SELECT with all its clauses, or a bracket inside one."""

    indent: int
    is_query: bool = True
    clause: T | None = None
    # Where a further line of the clause begins.
    hang: int = 0
    case_at: list[int | None] = field(default_factory=list)


class _Layout:
    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._items = pieces.items
        self._lines: list[str] = []
        self._line = ""
        self._stack = [_Query(indent=0)]
        self._between = False

    def run(self) -> str:
        for at, piece in enumerate(self._items):
            self._comments(piece.comments)
            self._break_before(at, piece)
            self._write(at, piece)
            self._after(at, piece)
        self._comments(self._pieces.tail)
        self._newline(0)
        return "\n".join(line.rstrip() for line in self._lines if line.strip()) + "\n"

    def _newline(self, column: int) -> None:
        """Go to a new line at this column; an empty line only moves."""
        if self._line.strip():
            self._lines.append(self._line)
        self._line = " " * column

    def _comments(self, comments: tuple[Comment, ...]) -> None:
        for comment in comments:
            if comment.alone:
                self._newline(self._column())
            elif self._line.strip():
                self._line += " "
            self._line += comment.text.rstrip()
            if comment.alone or comment.to_line_end:
                self._newline(self._column())

    def _column(self) -> int:
        top = self._stack[-1]
        return top.hang or top.indent

    def _break_before(self, at: int, piece: Piece) -> None:
        top = self._stack[-1]
        if piece.kind == T.R_PAREN and len(self._stack) > 1:
            if top.is_query:
                self._newline(
                    self._stack[-2].indent if self._stack[-2].is_query else top.indent - 2
                )
            return
        if not top.is_query:
            self._break_in_case(at, piece)
            return
        if piece.kind in _CLAUSES or (piece.kind in _JOINS and self._prior(at) not in _JOINS):
            self._newline(top.indent)
            top.clause, top.hang = piece.kind, 0
        elif piece.kind in (T.AND, T.OR) and top.clause in _CONDITIONS and not top.case_at:
            if not self._between:
                self._newline(top.indent + 2)
        elif piece.kind == T.ON:
            top.clause = T.ON
        self._break_in_case(at, piece)

    def _break_in_case(self, at: int, piece: Piece) -> None:
        marks = self._stack[-1].case_at
        follows = piece.kind in (T.WHEN, T.ELSE) and self._prior(at) != T.CASE
        if follows and marks and marks[-1] is not None:
            self._newline(marks[-1])

    def _prior(self, at: int) -> T | None:
        return self._items[at - 1].kind if at else None

    def _write(self, at: int, piece: Piece) -> None:
        text = " ".join(piece.text.split()) if piece.kind in _CLAUSES else piece.text
        if self._is_shouted(piece):
            text = text.upper()
        if self._line.strip() and not self._is_tight(at, piece):
            if len(self._line) + 1 + len(text) > WIDTH and self._prior(at) == T.COMMA:
                self._newline(self._column())
            else:
                self._line += " "
        self._line += text

    def _is_shouted(self, piece: Piece) -> bool:
        if piece.kind in (T.VAR, T.IDENTIFIER, T.STRING):
            return False
        closes = piece.kind == T.END and bool(self._stack[-1].case_at)
        return closes or piece.kind in _CLAUSES or piece.text.upper() in _SHOUTED

    def _is_tight(self, at: int, piece: Piece) -> bool:
        prior = self._prior(at)
        if piece.kind in _TIGHT_BEFORE or prior in _TIGHT_AFTER:
            return True
        if piece.kind == T.L_PAREN and prior in _CALLED:
            # A name before a bracket is a call, unless it is a table's or a step's.
            return self._items[at - 1].end == piece.start
        return prior in _SIGNS and self._is_sign(at - 1)

    def _is_sign(self, at: int) -> bool:
        before = self._items[at - 1] if at else None
        operand = (T.VAR, T.IDENTIFIER, T.NUMBER, T.STRING, T.R_PAREN, T.END)
        return before is None or before.kind not in operand

    def _after(self, at: int, piece: Piece) -> None:
        top = self._stack[-1]
        following = self._items[at + 1].kind if at + 1 < len(self._items) else None
        if piece.kind == T.BETWEEN:
            self._between = True
        elif piece.kind == T.AND:
            self._between = False
        if piece.kind == T.L_PAREN:
            self._open(following)
        elif piece.kind == T.R_PAREN and len(self._stack) > 1:
            self._stack.pop()
        elif piece.kind == T.CASE:
            top.case_at.append(len(self._line) + 1 if self._case_is_long(at) else None)
        elif piece.kind == T.END and top.case_at:
            top.case_at.pop()
        elif piece.kind in _LISTS and top.is_query:
            top.hang = len(self._line) + 1
        elif piece.kind == T.COMMA and top.is_query and top.clause == T.SELECT:
            self._after_column(at)

    def _after_column(self, at: int) -> None:
        """Plain columns stand beside each other, anything longer on a line of its own."""
        if not (self._is_plain(at, -1) and self._is_plain(at, 1)):
            self._newline(self._stack[-1].hang)

    def _open(self, following: T | None) -> None:
        if following in (T.SELECT, T.WITH):
            inside = max(top.indent for top in self._stack) + 2
            self._stack.append(_Query(indent=inside))
            self._newline(inside)
        else:
            top = self._stack[-1]
            self._stack.append(_Query(indent=top.indent, is_query=False, hang=len(self._line)))

    def _case_is_long(self, at: int) -> bool:
        """Would the whole CASE run over the line's end?"""
        length, depth = len(self._line), 0
        for piece in self._items[at:]:
            depth += (piece.kind == T.CASE) - (piece.kind == T.END)
            length += len(piece.text) + 1
            if depth == 0 or any(c.to_line_end for c in piece.comments):
                break
        return length > WIDTH - 16

    def _is_plain(self, at: int, step: int) -> bool:
        """Is the item on this side of a comma nothing but a column's name?"""
        at += step
        while 0 <= at < len(self._items):
            kind = self._items[at].kind
            if kind == T.COMMA or kind in _CLAUSES:
                return True
            if kind not in _NAMES:
                return False
            at += step
        return True
