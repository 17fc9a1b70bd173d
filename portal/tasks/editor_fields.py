"""What a field of the form is, and what an entry in it means in the document.

A field is a path into the document. What is typed becomes a value of the document even where it
does not fit: the compiler then says so, at its place, and nothing is lost.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aggregation.protocol.spec_text import Path

Kind = Literal["text", "lines", "whole", "number", "choice", "choices", "flag", "names"]

# A browser writes a small float with up to 23 decimals.
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?([0-9]{1,18}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][-+]?[0-9]{1,3})?")
_BY_SLICE = frozenset({"scales", "basis", "correction"})


@dataclass(frozen=True)
class Choice:
    value: str
    label: str


@dataclass(frozen=True)
class Field:
    path: str
    label: str
    kind: Kind
    # What the choice is about, in a sentence.
    hint: str
    choices: tuple[Choice, ...] = ()
    # What holds where the document says nothing.
    default: Any = None
    least: float | None = None
    most: float | None = None
    step: str = "any"
    suffix: str = ""

    @property
    def id(self) -> str:
        return "field-" + self.path.replace(".", "-").replace("_", "-")

    @property
    def steps(self) -> Path:
        return tuple(self.path.split("."))


@dataclass(frozen=True)
class Section:
    slug: str
    title: str
    lede: str
    fields: tuple[Field, ...]

    @property
    def is_open(self) -> bool:
        """What nearly every task changes is open; the rest has good defaults and waits."""
        return self.slug in ("anonymization", "window", "about")


def value_of(path: Sequence[str], given: Any, field: Field | None) -> Any:
    """What a form's entry means in the document; None takes the field out."""
    if isinstance(given, str) and path[-1] in ("epsilon", "clip"):
        return _as_number(given)
    if not isinstance(given, str) or field is None:
        return _as_number(given) if isinstance(given, str) and _is_number_at(path) else given
    if field.kind in ("whole", "number"):
        return _as_number(given)
    if field.kind == "names":
        return _as_names(given)
    return given if given.strip() or path[-1] == "description" else None


def _is_number_at(path: Sequence[str]) -> bool:
    """Numbers by slice or metric, which have no field of their own."""
    terms = ("anonymization", "clip_uncertainty", "metrics")
    return bool(_BY_SLICE & set(path)) or tuple(path[:3]) == terms


def _as_number(text: str) -> Any:
    bare = text.strip()
    if _WHOLE.fullmatch(bare):
        return int(bare)
    if _NUMBER.fullmatch(bare):
        return float(bare)
    return bare or None


def _as_names(text: str) -> Any:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or names == ["all"]:
        return names[0] if names else None
    return names
