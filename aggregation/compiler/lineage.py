"""Where a value comes from, and what type it has: followed through every scope, never by name.

A key must be one of a closed, public set of values, so that noise can be put on every cell. Only
two things are closed: a stream's column with a declared domain, and a choice among literals (or
such columns). Everything else is `Computed`, and stays so under whatever name it travels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aggregation.compiler import bounds
from aggregation.compiler.origins import (
    Computed,
    FromChoice,
    FromColumn,
    FromWindow,
    Origin,
    Undecided,
)
from aggregation.compiler.tree import (
    Aggregate,
    Call,
    Choose,
    Expr,
    Field,
    Negate,
    Null,
    Number,
    Opaque,
    Ref,
    Single,
    Text,
    Type,
)
from aggregation.protocol.domains import Domain, Value
from aggregation.protocol.ranks import DomainOf
from aggregation.protocol.streams import Column

_PICKING: Final = {"coalesce", "nullif", "min", "max"}


def type_of(expr: Expr) -> Type:  # noqa: PLR0911 - one line per shape
    match expr:
        case Ref(_, field):
            return field.type
        case Text():
            return "text"
        case Null():
            return "null"
        case Opaque():
            return "unknown"
        case Single(block):
            return block.fields[0].type if block.fields else "unknown"
        case Choose(branches, default):
            return common_type([v for _, v in branches] + ([default] if default else []))
        case Call(name, arguments) if name in _PICKING:
            return common_type(arguments)
        case Aggregate("min" | "max", value) if value is not None:
            return type_of(value)
        case _:
            return "number"


def common_type(values: Iterable[Expr]) -> Type:
    """The type that values share; unknown when they disagree (a rule of its own says so)."""
    return _shared(type_of(v) for v in values)


def _shared(types: Iterable[Type]) -> Type:
    known = set(types) - {"null"}
    if not known:
        return "null"
    return known.pop() if len(known) == 1 else "unknown"


def origin_of(expr: Expr, domain_of: DomainOf) -> Origin:  # noqa: PLR0911 - one line per shape
    match expr:
        case Ref(_, field):
            return field.origin
        case Text(value):
            return FromChoice((value,)) if value else Computed("an empty text")
        case Number(text) if text.isdigit():
            return FromChoice((int(text),))
        case Negate(Number(text)) if text.isdigit():
            return FromChoice((-int(text),))
        case Number() | Negate(Number()):
            return Computed("a number that is not written as a whole one")
        case Choose(branches, default):
            values = [v for _, v in branches] + ([default] if default else [])
            return _closed(values, domain_of)
        case Call("coalesce", arguments):
            return _closed(arguments, domain_of)
        case Call("nullif", arguments):
            return _closed(arguments[:1], domain_of)
        case Opaque():
            return Undecided()
        case Aggregate(name):
            return Computed(f"the result of {name.upper()}")
        case _:
            return Computed("a computed value")


def _closed(values: Iterable[Expr], domain_of: DomainOf) -> Origin:
    """A choice is closed when each thing it may give is; its values in the order of the text."""
    found: dict[Value, None] = {}
    for value in (v for v in values if not isinstance(v, Null)):
        origin = origin_of(value, domain_of)
        if isinstance(origin, Undecided):
            return origin
        closed = choices(origin, domain_of)
        if closed is None:
            return Computed(_open_choice(origin))
        if len(closed) > bounds.MAX_CHOICES:
            return Computed(f"a choice among more than {bounds.MAX_CHOICES:,} values")
        found.update(dict.fromkeys(closed))
    if len({type(v) for v in found}) != 1:
        return Computed("a choice that mixes text and numbers" if found else "nothing")
    return FromChoice(tuple(found))


def _open_choice(origin: Origin) -> str:
    """Why a choice is not closed, by the first of its values that is not."""
    if isinstance(origin, Computed):
        how = origin.how
        return how if how.startswith("a choice") else f"a choice that may give {how}"
    what = origin.column.name if isinstance(origin, FromColumn) else "value"
    return f"a choice that may give any {what}"


def choices(origin: Origin, domain_of: DomainOf) -> Domain | tuple[Value, ...] | None:
    """The closed set an origin draws from, if it is closed."""
    if isinstance(origin, FromColumn) and origin.column.domain is not None:
        return domain_of(origin.column.domain)
    return origin.values if isinstance(origin, FromChoice) else None


def column_field(stream: str, column: Column) -> Field:
    """A stream's column as queries see it."""
    if column.stamped and column.domain is None:
        return Field(column.name, "window", FromWindow())
    kind: Type = "text" if column.type == "text" else "number"
    return Field(column.name, kind, FromColumn(stream, column), column.nullable)


def is_closed(origin: Origin) -> bool:
    """Whether a value of this origin can be a key."""
    if isinstance(origin, FromColumn):
        return origin.column.domain is not None
    return isinstance(origin, FromChoice | Undecided)


def common_field(fields: Iterable[Field], domain_of: DomainOf) -> Field:
    """A column of a UNION ALL: the first one's name, and what all of them share."""
    columns = list(fields)
    kind = _shared(f.type for f in columns)
    origin = _common_origin([f.origin for f in columns], domain_of)
    return Field(columns[0].name, kind, origin, any(f.may_be_empty for f in columns))


def _common_origin(origins: list[Origin], domain_of: DomainOf) -> Origin:
    if all(o == origins[0] for o in origins):
        return origins[0]
    if any(isinstance(o, Undecided) for o in origins):
        return Undecided()
    if not all(is_closed(o) for o in origins):
        return Computed("rows of several queries")
    values: dict[Value, None] = {}
    for origin in origins:
        values.update(dict.fromkeys(choices(origin, domain_of) or ()))
    if len(values) > bounds.MAX_CHOICES or len({type(v) for v in values}) != 1:
        return Computed("rows of several queries with too many or mixed values")
    return FromChoice(tuple(values))
