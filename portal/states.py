"""A row's state: its value, label and colour in one place, and the moves that are allowed."""

from typing import Any, ClassVar, Self

from django.db import models


class States(models.TextChoices):
    """Base for a model's `State`. Members are `NAME = value, colour, label`.

    Colours are the design system's: neutral, info, good, warning, bad.
    """

    colour: str

    def __new__(cls, value: str, colour: str = "neutral") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.colour = colour
        return member


class Stateful(models.Model):
    """A model with a state that changes only through `portal.audit.services.move`."""

    # Subclasses define State(States), a `state` field and the moves that are allowed.
    MOVES: ClassVar[dict[Any, frozenset[Any]]]

    class Meta:
        abstract = True
