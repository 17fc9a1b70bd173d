"""The small language a query is bound to: what is not in here cannot reach a device.

The parser's tree covers every dialect of SQL; this one only what devices may run. Names are
resolved (a `Ref` points at a relation's field), aliases are gone, and each node knows its place
in the analyst's text (`at`, which does not take part in comparisons).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from aggregation.compiler.origins import Origin
from aggregation.protocol.streams import Stream

# unknown: already refused elsewhere, so nothing more is said about it.
Type = Literal["number", "text", "window", "null", "unknown"]


def _place() -> int:
    return field(default=0, compare=False, repr=False)


@dataclass(frozen=True)
class Field:
    """A column of a relation as the query around it sees it."""

    name: str
    type: Type
    origin: Origin
    may_be_empty: bool = False


@dataclass(frozen=True)
class Ref:
    source: str
    field: Field
    at: int = _place()


@dataclass(frozen=True)
class Number:
    text: str
    at: int = _place()


@dataclass(frozen=True)
class Text:
    value: str
    at: int = _place()


@dataclass(frozen=True)
class Null:
    at: int = _place()


@dataclass(frozen=True)
class Arithmetic:
    sign: str  # + - * / %
    left: Expr
    right: Expr
    at: int = _place()


@dataclass(frozen=True)
class Negate:
    value: Expr
    at: int = _place()


@dataclass(frozen=True)
class Compare:
    sign: str  # = <> < <= > >= IS, IS NOT
    left: Expr
    right: Expr
    at: int = _place()


@dataclass(frozen=True)
class Logic:
    word: str  # AND, OR
    items: tuple[Expr, ...]
    at: int = _place()


@dataclass(frozen=True)
class Not:
    value: Expr
    at: int = _place()


@dataclass(frozen=True)
class Between:
    value: Expr
    low: Expr
    high: Expr
    at: int = _place()


@dataclass(frozen=True)
class OneOf:
    value: Expr
    items: tuple[Expr, ...]
    at: int = _place()


@dataclass(frozen=True)
class OneOfQuery:
    value: Expr
    block: Block
    at: int = _place()


@dataclass(frozen=True)
class Single:
    """A subquery that stands for its one value."""

    block: Block
    at: int = _place()


@dataclass(frozen=True)
class Choose:
    """CASE: the value of the first condition that holds."""

    branches: tuple[tuple[Expr, Expr], ...]
    default: Expr | None
    at: int = _place()


@dataclass(frozen=True)
class Call:
    name: str  # abs round coalesce nullif min max
    arguments: tuple[Expr, ...]
    at: int = _place()


@dataclass(frozen=True)
class Aggregate:
    name: str  # count sum total avg min max
    # Nothing for COUNT(*).
    value: Expr | None
    distinct: bool = False
    # FILTER (WHERE …)
    where: Expr | None = None
    at: int = _place()


@dataclass(frozen=True)
class Cast:
    value: Expr
    to: str  # INTEGER, REAL
    at: int = _place()


@dataclass(frozen=True)
class Opaque:
    """Something that was refused; it keeps its place so that the rest can still be judged."""

    at: int = _place()


Expr = (
    Ref
    | Number
    | Text
    | Null
    | Arithmetic
    | Negate
    | Compare
    | Logic
    | Not
    | Between
    | OneOf
    | OneOfQuery
    | Single
    | Choose
    | Call
    | Aggregate
    | Cast
    | Opaque
)


@dataclass(frozen=True)
class Item:
    """One column of a SELECT."""

    name: str
    value: Expr
    at: int = _place()
    # Written by the analyst, or made up because the expression has no name.
    named: bool = True


@dataclass(frozen=True)
class Source:
    """A relation in FROM. `name` is canonical, `fields` are what can be referred to."""

    name: str
    relation: Stream | Block | Facts | Results
    fields: tuple[Field, ...]
    at: int = _place()

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name), None)

    @property
    def known(self) -> bool:
        """Whether `fields` is all there is; not so where something inside was refused."""
        return not isinstance(self.relation, Select | Results) or self.relation.known


@dataclass(frozen=True)
class Facts:
    """`device_facts`."""


@dataclass(frozen=True)
class Results:
    """`device_results`: what all devices send, a table that never exists."""

    known: bool = True


@dataclass(frozen=True)
class Join:
    source: Source
    on: Expr | None
    left: bool
    at: int = _place()


@dataclass(frozen=True, eq=False)
class Select:
    """One SELECT with its names resolved. Compared by identity: a shared step is one block."""

    items: tuple[Item, ...]
    source: Source | None
    joins: tuple[Join, ...]
    where: Expr | None
    group: tuple[Expr, ...] | None
    having: Expr | None
    distinct: bool
    fields: tuple[Field, ...]
    at: int = 0
    # Whether `fields` is all there is.
    known: bool = True

    @property
    def sources(self) -> tuple[Source, ...]:
        first = (self.source,) if self.source else ()
        return (*first, *(j.source for j in self.joins))


@dataclass(frozen=True, eq=False)
class Union:
    """UNION ALL of several SELECTs with the same columns."""

    branches: tuple[Block, ...]
    fields: tuple[Field, ...]
    at: int = 0


Block = Select | Union

WINDOW: Final = "privacy_time_unit"
