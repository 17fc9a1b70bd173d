"""Which fields tell any two rows of a relation apart."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from aggregation.compiler.tree import Compare, Expr, Opaque, Ref, Select, Source, Union
from aggregation.compiler.walks import aggregates, conjuncts

# A block's answer is kept while the block lives: steps may be read many times.
_known: WeakKeyDictionary[Select, frozenset[str] | None] = WeakKeyDictionary()


def unique_fields(block: Select | Union) -> frozenset[str] | None:
    """Names of the fields that together tell any two rows apart, or nothing where rows repeat.

    A grouped SELECT has one row per group, if it gives out all it groups by; a plain SELECT keeps
    what its first source has, as long as no join repeats that source's rows.
    """
    if isinstance(block, Union):
        return None
    if block not in _known:
        _known[block] = _unique_fields(block)
    return _known[block]


def _unique_fields(select: Select) -> frozenset[str] | None:
    if aggregates(select):
        return outputs(select, select.group or ())
    if select.distinct:
        return frozenset(f.name for f in select.fields)
    source = select.source
    if source is None or not isinstance(source.relation, Select | Union):
        return None
    if not all(unique_on(join.source, equal_pairs(join.on)) for join in select.joins):
        return None
    inner = unique_fields(source.relation)
    if inner is None:
        return None
    return outputs(select, [Ref(source.name, f) for f in source.fields if f.name in inner])


def outputs(select: Select, values: Iterable[Expr]) -> frozenset[str] | None:
    """Under which names the SELECT gives these values out; nothing unless it gives them all."""
    found: set[str] = set()
    for value in values:
        names = [item.name for item in select.items if item.value == value]
        if not names:
            return None
        # What was refused looks all the same: any of it may be meant.
        found.update(names if isinstance(value, Opaque) else names[:1])
    return frozenset(found)


def equal_pairs(on: Expr | None) -> list[tuple[Ref, Ref]]:
    """The pairs of columns that ON makes equal."""
    return [
        (part.left, part.right)
        for part in (conjuncts(on) if on is not None else ())
        if isinstance(part, Compare)
        and part.sign == "="
        and isinstance(part.left, Ref)
        and isinstance(part.right, Ref)
    ]


def unique_on(source: Source, pairs: list[tuple[Ref, Ref]]) -> bool:
    """Whether a row elsewhere finds at most one row of this source by these pairs."""
    if not isinstance(source.relation, Select | Union):
        return False
    unique = unique_fields(source.relation)
    compared = {
        ref.field.name
        for one, other in pairs
        for ref, partner in ((one, other), (other, one))
        if ref.source == source.name and partner.source != source.name
    }
    return unique is not None and unique <= compared
