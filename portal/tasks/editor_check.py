"""One look at a document while it is written: edits go in, everything the page shows comes out.

Others judge; nothing here decides anything. Nothing is stored.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from aggregation.compiler import Compiled, Refused, compile_spec
from aggregation.errors import Problem
from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_reading import spec_from
from aggregation.protocol.spec_text import Unreadable, read_document
from aggregation.protocol.streams import Catalog
from portal.tasks import editor_mechanism
from portal.tasks.completion import output_columns
from portal.tasks.editor_consequences import Situation, consequences
from portal.tasks.editor_cost import Cost
from portal.tasks.editor_document import Edit, with_edits
from portal.tasks.editor_fields import value_of
from portal.tasks.editor_places import BlockPlaces
from portal.tasks.editor_sections import FIELDS
from portal.tasks.editor_words import in_words_of_the_form
from portal.tasks.judging import judged

_MECHANISM = ("anonymization", "mechanism")


@dataclass(frozen=True)
class Surroundings:
    """What a check needs besides the text."""

    catalog: Catalog
    # Those that operators have made.
    populations: frozenset[str]
    # Weekly cap of ε per stream.
    cap: Decimal
    now: datetime
    # What a compiled task would take of the coming weeks; nothing where no ledger is asked.
    cost: Callable[[Compiled], Cost] | None = None


def changed_text(text: str, changes: Sequence[Mapping[str, Any]], catalog: Catalog) -> str:
    """The text after what was typed into the form. A text that cannot be read stays as it is."""
    for change in changes:
        path = tuple(str(step) for step in change["path"])
        try:
            text = with_edits(text, _edits(text, path, change["value"], catalog))
        except Unreadable:
            return text
    return text


def check(text: str, around: Surroundings) -> dict[str, Any]:
    """All that the page shows about a text, as plain values for JSON."""
    _, report = judged(text, around.catalog, around.populations, cap=around.cap)
    compiled = compiled_of(text, around.catalog, around.populations)
    placed = BlockPlaces(text).placed(report["diagnostics"])
    document = plain_document(text)
    shape = compiled or _shape(text, around.catalog)
    metrics = shape.client_task.metrics if shape else None
    cost = around.cost(compiled) if around.cost and compiled else None
    situation = Situation(
        document or {}, around.cap, around.now, len(metrics) if metrics else None, cost
    )
    return {
        "text": text,
        "document": _json_safe(document),
        "accepted": report["accepted"],
        "shortage": cost.shortage if cost and report["accepted"] else "",
        "diagnostics": [in_words_of_the_form(found) for found in placed],
        "explain": compiled.explanation.paragraphs if compiled else None,
        "consequences": consequences(situation),
        "results": output_columns(str((document or {}).get("client_sql") or "")),
        "mechanism": _mechanism(document or {}, shape, around.catalog),
    }


def compiled_of(text: str, catalog: Catalog, populations: frozenset[str]) -> Compiled | None:
    """The compiled task of a text, where the compiler accepts it."""
    found = _compiled(text, catalog, populations)
    return found if isinstance(found, Compiled) else None


@lru_cache(maxsize=32)
def _compiled(
    text: str, catalog: Catalog, populations: frozenset[str]
) -> Compiled | Refused | None:
    spec = _spec(text)
    return compile_spec(spec, catalog, populations=populations) if spec else None


@lru_cache(maxsize=32)
def _shape(text: str, catalog: Catalog) -> Compiled | None:
    return editor_mechanism.shape_of(plain_document(text) or {}, catalog)


def _spec(text: str) -> Spec | None:
    try:
        return spec_from(read_document(text))
    except Problem:
        return None


def plain_document(text: str) -> dict[str, Any] | None:
    """The document's fields; nothing where the text is no set of fields."""
    try:
        value = read_document(text).value
    except Problem:
        return None
    return value if isinstance(value, dict) else None


def _edits(text: str, path: tuple[str, ...], given: Any, catalog: Catalog) -> list[Edit]:
    """A form's entry as edits; those of a mechanism's kind or slices renew its parameters."""
    value = value_of(path, given, FIELDS.get(".".join(path)))
    if path[:2] != _MECHANISM or len(path) == 2:
        return [Edit(path, value)]
    mechanism = _mechanism_part(plain_document(text) or {}) or {}
    shape = _shape(text, catalog)
    if path[2] == "kind" and given != mechanism.get("kind"):
        switched = editor_mechanism.switched(mechanism, str(given), shape, catalog)
        return [Edit(_MECHANISM, switched)]
    if path[2] in ("scale_by", "slice_by", "by"):
        renewed = {**mechanism, path[2]: given}
        kind = str(mechanism.get("kind"))
        return [Edit(_MECHANISM, editor_mechanism.switched(renewed, kind, shape, catalog))]
    if path[2] in ("basis", "correction") and len(path) > 4 and shape:
        whole = editor_mechanism.resized(mechanism, path[2], path[3], shape.client_task.metrics)
        return [*([Edit(path[:4], whole)] if whole else []), Edit(path, value)]
    return [Edit(path, value)]


def _mechanism_part(document: Mapping[str, Any]) -> dict[str, Any] | None:
    part = document.get("anonymization")
    mechanism = part.get("mechanism") if isinstance(part, dict) else None
    return mechanism if isinstance(mechanism, dict) else None


def _mechanism(
    document: Mapping[str, Any], shape: Compiled | None, catalog: Catalog
) -> dict[str, Any] | None:
    """What the form needs to draw a mechanism's parameters."""
    mechanism = _mechanism_part(document)
    if mechanism is None or shape is None:
        return None
    by = editor_mechanism.by_of(mechanism)
    keys = [k for k in shape.client_task.keys if k.count <= editor_mechanism.MOST_SLICES]
    return {
        "by": by,
        "keys": [{"name": key.name, "count": key.count} for key in keys],
        "slices": editor_mechanism.slices(by, shape, catalog),
        "metrics": list(shape.client_task.metrics),
    }


def _json_safe(value: Any) -> Any:
    """JSON has no infinities; where a document has one, the form shows its name."""
    if isinstance(value, dict):
        return {name: _json_safe(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_json_safe(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
