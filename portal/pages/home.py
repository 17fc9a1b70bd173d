"""What the home page is made of. Each part of Mayfly contributes what it knows: see `todos` and
`cards`; a new part adds a function to the list there, and nothing else changes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from portal.accounts.models import Person, Role
from portal.pages.health import Part, parts


@dataclass(frozen=True)
class Viewer:
    """Who looks at the home page, and when (machine time)."""

    person: Person
    now: datetime

    def is_a(self, *roles: Role) -> bool:
        return self.person.has_role(*roles)

    @cached_property
    def parts(self) -> list[Part]:
        """The parts of the system, asked once however many want to know."""
        return parts()


@dataclass(frozen=True)
class Todo:
    """One thing that needs the viewer now, and where to do it."""

    # The design system's: info, warning or bad.
    tone: str
    icon: str
    title: str
    detail: str
    url: str
    action: str


@dataclass(frozen=True)
class Figure:
    value: str
    label: str


@dataclass(frozen=True)
class Card:
    """One thing the viewer can look into."""

    title: str
    icon: str
    text: str
    url: str
    figures: tuple[Figure, ...] = ()
    # good, warning or bad, where the card says how something is.
    tone: str = ""


Todos = Iterator[Todo]
Cards = Iterator[Card]
