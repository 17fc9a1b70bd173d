"""Rules on joins and unions: no event counts more than once.

Contributions are bounded on the device after the query, so repeated rows break no guarantee; they
break the meaning of sums, and hide it from the reviewer. A join is sound when one side has at
most one row for each row of the other: it is grouped by exactly what the join compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.tree import Block, Opaque, Ref, Select, Source, Union
from aggregation.compiler.uniqueness import equal_pairs, unique_on
from aggregation.compiler.walks import blocks
from aggregation.protocol.streams import Stream

_REMEDY: Final = (
    "Group one side by the columns of ON, privacy_time_unit among them, before joining."
)


def multiplied_rows(select: Select) -> Iterator[Finding]:
    """Every join finds at most one partner for each row of one side."""
    for place, join in enumerate(select.joins, start=1):
        if isinstance(join.on, Opaque) or not join.source.known:
            continue
        pairs = equal_pairs(join.on)
        left = select.sources[:place]
        if not unique_on(join.source, pairs) and not _left_unique(left, join.source, pairs):
            message = "This join can repeat rows, and events would count more than once."
            yield Finding(message, _REMEDY, at=join.at)


def repeated_stream(union: Union) -> Iterator[Finding]:
    """The SELECTs of a UNION ALL read different streams, so that no event is in two of them."""
    seen: set[str] = set()
    for branch in union.branches:
        streams = _streams(branch)
        if streams & seen:
            message = f"UNION ALL reads {', '.join(sorted(streams & seen))} more than once."
            yield Finding(message, "Read each stream in one SELECT, with CASE.", at=branch.at)
        seen |= streams


def _streams(block: Block) -> set[str]:
    return {
        source.relation.name
        for inner in blocks(block)
        if isinstance(inner, Select)
        for source in inner.sources
        if isinstance(source.relation, Stream)
    }


def _left_unique(left: tuple[Source, ...], right: Source, pairs: list[tuple[Ref, Ref]]) -> bool:
    """One row on the left for each row on the right: only for the first join, to stay simple."""
    return len(left) == 1 and unique_on(left[0], pairs) and _compares(left[0], right, pairs)


def _compares(one: Source, other: Source, pairs: list[tuple[Ref, Ref]]) -> bool:
    return all({a.source, b.source} == {one.name, other.name} for a, b in pairs)
