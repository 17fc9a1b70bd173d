"""Two queries side by side, with the words that changed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import takewhile

from portal.tasks.models import Comment

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
# Pairs of lines or words that are held against each other: 200 of each. What repeats itself takes
# the square of that and more, so a long comment in a query would take minutes.
_MOST_PAIRS = 40_000
# As difflib has it: equal or not, and from where to where on either side.
Run = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Piece:
    text: str
    changed: bool = False


@dataclass(frozen=True)
class Line:
    number: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Row:
    """A line before and a line after; one of them is missing where it was added or removed."""

    before: Line | None
    after: Line | None
    changed: bool
    threads: list[Comment] = field(default_factory=list)


def side_by_side(before: str, after: str, threads: Sequence[Comment] = ()) -> list[Row]:
    old, new = before.splitlines(), after.splitlines()
    rows: list[Row] = []
    for kind, a, b, c, d in _runs(old, new):
        if kind == "equal":
            rows += [_same(a + n, c + n, old[a + n]) for n in range(b - a)]
        else:
            rows += _changed(old[a:b], new[c:d], a, c)
    for row in rows:
        row.threads.extend(t for t in threads if row.after and t.line == row.after.number)
    return rows


def _same(a: int, c: int, text: str) -> Row:
    pieces = (Piece(text),)
    return Row(Line(a + 1, pieces), Line(c + 1, pieces), changed=False)


def _changed(old: list[str], new: list[str], a: int, c: int) -> list[Row]:
    rows = []
    for n in range(max(len(old), len(new))):
        left, right = (lines[n] if n < len(lines) else None for lines in (old, new))
        pieces = _pieces(left or "", right or "")
        before = Line(a + n + 1, pieces[0]) if left is not None else None
        after = Line(c + n + 1, pieces[1]) if right is not None else None
        rows.append(Row(before, after, changed=True))
    return rows


def _pieces(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    left, right = [], []
    for kind, a, b, c, d in _runs(old, new):
        left.append(Piece("".join(old[a:b]), kind != "equal"))
        right.append(Piece("".join(new[c:d]), kind != "equal"))
    return tuple(p for p in left if p.text), tuple(p for p in right if p.text)


def _runs(old: list[str], new: list[str]) -> Iterator[Run]:
    """What is alike at both ends, and what stands between: changed as a whole where it is long."""
    head = _alike(zip(old, new, strict=False))
    tail = _alike(zip(reversed(old[head:]), reversed(new[head:]), strict=False))
    b, d = len(old) - tail, len(new) - tail
    yield ("equal", 0, head, 0, head)
    for kind, i, j, k, m in _between(old[head:b], new[head:d]):
        yield (kind, head + i, head + j, head + k, head + m)
    yield ("equal", b, len(old), d, len(new))


def _between(old: list[str], new: list[str]) -> Sequence[Run]:
    if len(old) * len(new) > _MOST_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _alike(pairs: Iterable[tuple[str, str]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
