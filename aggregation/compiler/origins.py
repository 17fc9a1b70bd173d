"""Origins: where a value comes from, whatever it has been called since."""

from __future__ import annotations

from dataclasses import dataclass

from aggregation.protocol.domains import Value
from aggregation.protocol.streams import Column


@dataclass(frozen=True)
class FromColumn:
    """A value that is a stream's column, whatever it has been called since."""

    stream: str
    column: Column


@dataclass(frozen=True)
class FromChoice:
    """A value picked from a closed set: literals, or columns with a domain, by CASE or COALESCE."""

    values: tuple[Value, ...]


@dataclass(frozen=True)
class FromWindow:
    """The id of the window, as the device stamped it."""


@dataclass(frozen=True)
class Computed:
    """Any other value; `how` says what made it one."""

    how: str


@dataclass(frozen=True)
class Undecided:
    """Not known, because something before it was refused; nothing more is said about it."""


Origin = FromColumn | FromChoice | FromWindow | Computed | Undecided
