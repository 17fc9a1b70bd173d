"""Read a spec: text to `Spec`, or every misfit with its path, its place and the nearest name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import islice
from typing import Any, Final, get_type_hints

import msgspec
from msgspec import inspect

from aggregation.errors import Problem
from aggregation.protocol.anonymization import ClipTerms
from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_text import Document, Path, Place, Unreadable, read_document
from aggregation.protocol.windows import Unit

__all__ = ["Misfit", "Misfits", "Unreadable", "read_spec", "spec_from"]

_DECIMAL: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
# Misfits that are listed; a document with more is no spec at all.
_SHOWN: Final = 40
_KINDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "fields",
    "null": "nothing",
    "decimal": "a number such as 0.5",
}
# Fields that take a decimal as text, too; `*` for any name.
_DECIMALS: Final[tuple[Path, ...]] = (
    ("anonymization", "epsilon"),
    *(
        ("anonymization", "clip_uncertainty", "metrics", "*", term)
        for term in ClipTerms.__struct_fields__
    ),
)
# Fields that take one of a few words.
_ONE_OF: Final[dict[Path, str]] = {
    ("unit",): f"Choose among {', '.join(unit.value for unit in Unit)}.",
}


@dataclass(frozen=True)
class Misfit:
    """One field that a spec does not have, lacks, or has with another type."""

    rule: str  # unknown_field, missing_field or field_type
    path: str
    message: str
    hint: str
    place: Place | None = None


class Misfits(Problem):
    """The text is a document, but not a spec. All reasons at once."""

    def __init__(self, found: tuple[Misfit, ...]) -> None:
        super().__init__(" ".join(f"{m.message} {m.hint}" for m in found))
        self.found = found


def read_spec(source: str | bytes) -> Spec:
    """Read a spec from YAML or JSON. Raises `Unreadable` or `Misfits`, both with sentences."""
    return spec_from(read_document(source))


def spec_from(document: Document) -> Spec:
    """The spec a document holds; its fields are checked for name and type, not for bounds."""
    if not isinstance(document.value, dict):
        raise Unreadable(
            "The document is not a set of fields.", hint="Begin with `name: my-task`.", place=(1, 1)
        )
    value = _with_decimals(document.value)
    found = tuple(islice(_struct_misfits(value, _spec_type(), (), document.places), _SHOWN))
    if found:
        raise Misfits(found)
    try:
        return msgspec.convert(value, Spec)
    except msgspec.ValidationError as error:
        raise Misfits((_type_misfit(str(error), (), document.places),)) from None


@cache
def _spec_type() -> inspect.StructType:
    info = inspect.type_info(Spec)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - for the type checker
    return info


def _with_decimals(value: dict[str, Any]) -> dict[str, Any]:
    """Decimal text becomes a decimal here, so that `1e1` or ` 2` stay what they are: text."""
    changed: dict[str, Any] = value
    for path in _DECIMALS:
        changed = _with_decimal(changed, path)
    return changed


def _with_decimal(value: Any, path: Path) -> Any:
    if not path:
        if not isinstance(value, str):
            return value
        return Decimal(value) if _DECIMAL.fullmatch(value) else {}
    step, *rest = path
    if not isinstance(value, dict):
        return value
    steps = list(value) if step == "*" else [step] if step in value else []
    return {**value, **{name: _with_decimal(value[name], tuple(rest)) for name in steps}}


def _struct_misfits(
    value: dict[str, Any], info: inspect.StructType, path: Path, places: dict[Path, Place]
) -> Iterator[Misfit]:
    known = {f.encode_name: f for f in info.fields}
    tag = {info.tag_field} if info.tag_field else set()
    for name in value:
        if name not in known and name not in tag:
            yield _unknown(name, [*known, *tag], (*path, name), places)
    for name, field in known.items():
        if name in value:
            inside = (*path, name)
            found = list(_nested_misfits(value[name], field.type, inside, places))
            # What it holds is judged by itself; if nothing is wrong there, as a whole.
            yield from found or _type_misfits(
                value[name], _types(info.cls)[field.name], inside, places
            )
        elif field.required:
            yield _missing(name, path, places)


def _nested_misfits(
    value: Any, info: inspect.Type, path: Path, places: dict[Path, Place]
) -> Iterator[Misfit]:
    if not isinstance(value, dict):
        return
    if isinstance(info, inspect.UnionType):
        tagged = {t.tag: t for t in info.types if isinstance(t, inspect.StructType) and t.tag}
        if tagged:
            kind = value.get("kind")
            chosen = tagged.get(kind) if isinstance(kind, str) else None
            if chosen is None:
                yield _unknown_kind(kind, [str(t) for t in tagged], path, places)
                return
            info = chosen
        else:  # an optional part
            info = next((t for t in info.types if isinstance(t, inspect.StructType)), info)
    if isinstance(info, inspect.StructType):
        yield from _struct_misfits(value, info, path, places)
    elif isinstance(info, inspect.DictType):
        for name, inner in value.items():
            yield from _nested_misfits(inner, info.value_type, (*path, name), places)


@cache
def _types(part: type) -> dict[str, Any]:
    return get_type_hints(part)


def _type_misfits(
    value: Any, wanted: Any, path: Path, places: dict[Path, Place]
) -> Iterator[Misfit]:
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        yield _type_misfit(str(error), path, places)


def _unknown(name: str, known: list[str], path: Path, places: dict[Path, Place]) -> Misfit:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    shown = name if len(name) <= 60 else name[:60] + "…"
    return Misfit(
        rule="unknown_field",
        path=dotted(path),
        message=f"There is no field {shown!r} here.",
        hint=f"Did you mean {near[0]!r}?" if near else f"Known fields: {', '.join(sorted(known))}.",
        place=places.get(path),
    )


def _missing(name: str, path: Path, places: dict[Path, Place]) -> Misfit:
    inside = f" in {dotted(path)}" if path else ""
    return Misfit(
        rule="missing_field",
        path=dotted((*path, name)),
        message=f"The field {name!r} is missing{inside}.",
        hint=f"Add `{name}: …`.",
        place=_nearest_place(path, places),
    )


def _unknown_kind(kind: Any, known: list[str], path: Path, places: dict[Path, Place]) -> Misfit:
    near = difflib.get_close_matches(str(kind), known, n=1, cutoff=0.5)
    what = path[-1]  # a mechanism or a step
    given = f"The {what} has no kind." if kind is None else f"There is no {what} {kind!r:.60}."
    hint = f"Did you mean {near[0]!r}?" if near else f"Known kinds: {', '.join(sorted(known))}."
    place = places.get((*path, "kind"), places.get(path))
    return Misfit("field_type", dotted((*path, "kind")), given, hint, place)


def _type_misfit(message: str, inside: Path, places: dict[Path, Place]) -> Misfit:
    what, _, where = message.partition(" - at `")
    path = (*inside, *_parsed(where.rstrip("`")))
    words = re.findall(r"`([^`]*)`", what)
    if len(words) == 2:
        wanted = " or ".join(_KINDS.get(w.strip(), w.strip()) for w in words[0].split("|"))
        sentence = f"This field holds {_KINDS.get(words[1], words[1])}, but it takes {wanted}."
        hint = f"Write {wanted} here."
    else:
        sentence, hint = f"{what.replace('enum value', 'value')}.", _ONE_OF.get(path[-1:], "")
    if path[-1:] == ("epsilon",) or path[-1:] in [(t,) for t in ClipTerms.__struct_fields__]:
        sentence = "This cannot be read as a number."
        hint = "Write one with a point and without an exponent, such as 0.5."
    return Misfit("field_type", dotted(path), sentence, hint, _nearest_place(path, places))


def _nearest_place(path: Path, places: dict[Path, Place]) -> Place | None:
    """The field's place, or that of the nearest field around it; the top where there is none."""
    if not places:
        return None
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return (1, 1)


def _parsed(where: str) -> Path:
    """`$.anonymization.mechanism.by[0]` as a path; `[...]` stands for any field of a mapping."""
    steps = re.findall(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]", where)
    return tuple(name or (int(index) if index.isdigit() else "…") for name, index in steps)


def dotted(path: Path) -> str:
    """anonymization.mechanism.by.0: how a diagnostic names a field."""
    return ".".join(str(step)[:60] for step in path)
