"""A document's text to plain values, YAML or JSON, with the place of every field.

YAML is read event by event, so that nothing in it can recurse, expand or run: aliases, anchors,
tags, several documents and repeated keys are refused. Plain words follow YAML 1.2 (`no` is text,
so Norway keeps its name; only true, false, null and numbers are special).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from aggregation.errors import Problem

MAX_BYTES: Final = 64 * 1024
MAX_DEPTH: Final = 16
MAX_ITEMS: Final = 20_000

Path = tuple[str | int, ...]
Place = tuple[int, int]  # line and column, from 1

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: Final = {"true": True, "false": False, "null": None, "~": None, "": None}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,100}")
_REAL: Final = re.compile(
    r"[-+]?(\.[0-9]{1,100}|[0-9]{1,100}(\.[0-9]{0,100})?)([eE][-+]?[0-9]{1,4})?"
)
_ODD: Final = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}


class Unreadable(Problem):
    """The text is not a document at all."""

    def __init__(self, message: str, *, hint: str = "", place: Place | None = None) -> None:
        super().__init__(message, hint=hint)
        self.place = place


@dataclass(frozen=True)
class Document:
    """Plain values, and where each field stands in the text (empty where that is not known)."""

    value: Any
    places: dict[Path, Place]


def read_document(source: str | bytes) -> Document:
    """Read one YAML or JSON document, or raise `Unreadable` with the reason and the place."""
    text = _decoded(source)
    if text.lstrip().startswith("{"):
        try:
            return Document(_read_json(text), _places_or_none(text))
        except json.JSONDecodeError:
            pass  # YAML in flow style, or broken: YAML says which
        except _GivenTwice as error:
            raise Unreadable(error.message, hint=error.hint, place=_place_of(text)) from None
    return _read_yaml(text)


def _decoded(source: str | bytes) -> str:
    raw = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    if len(raw) > MAX_BYTES:
        raise Unreadable(
            f"The document has {len(raw):,} bytes; at most {MAX_BYTES:,} are read.",
            hint="Shorten it.",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"Byte {error.start + 1} of the document is not UTF-8.", hint="Save it as UTF-8."
        ) from None
    if not text.strip():
        raise Unreadable("The document is empty.", hint="Write a task spec in YAML or JSON.")
    return text


def _read_json(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_int=_whole)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise Unreadable("The document is nested too deeply.", hint="Flatten it.") from None
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise Unreadable(
            f"{half} is half of a character, and stands for no text.",
            hint="Remove it, or write the character itself.",
        ) from None
    return value


class _GivenTwice(Problem):
    """A field of a JSON object has two values."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise _GivenTwice(f"The field {_shown(name)} is given twice.", hint="Keep one of them.")
        result[name] = value
    return result


def _place_of(text: str) -> Place | None:
    """Where reading it as YAML stops: JSON's own reader does not say where it is."""
    try:
        _read_yaml(text)
    except Unreadable as error:
        return error.place
    return None


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= 101 else float("inf")


def _places_or_none(text: str) -> dict[Path, Place]:
    try:
        return _read_yaml(text).places
    except Unreadable:
        return {}


def _read_yaml(text: str) -> Document:
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        what = error.problem or error.context or "it is broken"
        mark = error.problem_mark or error.context_mark
        raise Unreadable(
            f"The document is not YAML: {what}.",
            hint="Check the indentation, colons, brackets and quotation marks here.",
            place=_place(mark),
        ) from None
    except yaml.YAMLError:
        raise Unreadable(
            "The document holds characters that YAML does not allow.",
            hint="Remove control characters.",
        ) from None
    return Document(builder.value, builder.places)


@dataclass
class _Open:
    """A list or a mapping that is still being read."""

    path: Path
    value: list[Any] | dict[str, Any]
    key: str | None = None


@dataclass
class _Builder:
    value: Any = None
    places: dict[Path, Place] = field(default_factory=dict)
    _stack: list[_Open] = field(default_factory=list)
    _items: int = 0
    _documents: int = 0

    def take(self, event: Any) -> None:
        self._refuse_tricks(event)
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._begin({}, event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._begin([], event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._stack.pop()

    def _refuse_tricks(self, event: Any) -> None:
        place = _place(event.start_mark)
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise Unreadable("The text holds several documents.", hint="Keep one.", place=place)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise Unreadable(
                "The document uses an anchor or an alias.", hint="Write the value out.", place=place
            )
        if getattr(event, "tag", None):
            raise Unreadable(
                f"The document uses the tag {_shown(event.tag)}.", hint="Remove it.", place=place
            )

    def _begin(self, value: list[Any] | dict[str, Any], event: Any) -> None:
        place = _place(event.start_mark)
        if self._stack and isinstance(self._stack[-1].value, dict) and self._stack[-1].key is None:
            raise Unreadable("A field's name is text.", hint="Write a plain name.", place=place)
        if len(self._stack) >= MAX_DEPTH:
            raise Unreadable("The document is nested too deeply.", hint="Flatten it.", place=place)
        self._stack.append(_Open(self._add(value, place), value))

    def _scalar(self, event: Any) -> None:
        place = _place(event.start_mark)
        top = self._stack[-1] if self._stack else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            if event.value in top.value:
                raise Unreadable(
                    f"The field {_shown(event.value)} is given twice.",
                    hint="Keep one of them.",
                    place=place,
                )
            top.key = event.value
            self.places[(*top.path, event.value)] = place or (1, 1)
        else:
            self._add(plain_value(event.value) if event.implicit[0] else event.value, place)

    def _add(self, value: Any, place: Place | None) -> Path:
        """Put a value where it belongs; give its path."""
        self._items += 1
        if self._items > MAX_ITEMS:
            raise Unreadable("The document has too many values.", hint="Shorten it.", place=place)
        if not self._stack:
            self.value = value
            return ()
        top = self._stack[-1]
        if isinstance(top.value, dict):
            name, top.key = top.key or "", None
            top.value[name] = value
            return (*top.path, name)
        top.value.append(value)
        path = (*top.path, len(top.value) - 1)
        self.places[path] = place or (1, 1)
        return path


def plain_value(word: str) -> Any:
    """What a word without quotation marks stands for."""
    if word in _ODD:
        return float(_ODD[word])
    if _INTEGER.fullmatch(word):
        return int(word)
    if _REAL.fullmatch(word):
        return float(word)
    return _WORDS.get(word, word)


def _place(mark: Any) -> Place | None:
    return (mark.line + 1, mark.column + 1) if mark is not None else None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
