"""A rule on size: how large a query becomes where every step is written out.

SQLite writes a step out wherever it is read, and a column's expression wherever the column is.
Thirty short steps that each read the one before twice would be a billion expressions, and SQLite
cannot be interrupted while it prepares them: they are counted here first.
"""

from __future__ import annotations

from collections.abc import Iterator

from aggregation.compiler import bounds
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.tree import Block, Expr, OneOfQuery, Ref, Single, Union
from aggregation.compiler.walks import blocks, expressions, walk


def too_large(main: Block) -> Iterator[Finding]:
    size = expanded_size(main)
    if size > bounds.MAX_EXPANDED:
        message = f"Written out, the query has {min(size, 10**12):,} parts; at most "
        hint = "Let steps read each other once, and columns be used less often."
        yield Finding(f"{message}{bounds.MAX_EXPANDED:,} are possible.", hint, at=main.at)


def expanded_size(main: Block) -> int:
    """Nodes of the query with all steps and columns written out."""
    # Block → its own size, and the size of each of its columns.
    known: dict[int, tuple[int, dict[str, int]]] = {}
    for block in blocks(main):
        known[id(block)] = _size(block, known)
    return known[id(main)][0]


def _size(block: Block, known: dict[int, tuple[int, dict[str, int]]]) -> tuple[int, dict[str, int]]:
    if isinstance(block, Union):
        inner = [known[id(branch)] for branch in block.branches]
        columns = {
            f.name: max((c.get(f.name, 1) for _, c in inner), default=1) for f in block.fields
        }
        return sum(size for size, _ in inner) + 1, columns
    sources = {s.name: known.get(id(s.relation), (1, {})) for s in block.sources}

    def weight(expr: Expr) -> int:
        if isinstance(expr, Ref):
            return sources.get(expr.source, (1, {}))[1].get(expr.field.name, 1)
        if isinstance(expr, OneOfQuery | Single):
            return known[id(expr.block)][0] + 1
        return 1

    own = sum(weight(e) for top in expressions(block) for e in walk(top))
    columns = {item.name: sum(weight(e) for e in walk(item.value)) for item in block.items}
    return own + sum(size for size, _ in sources.values()) + 1, columns
