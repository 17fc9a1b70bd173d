"""Edits of a document's text, field by field: comments, order and spelling of the rest stay.

The text is the one document behind the form, the SQL panes and the YAML. A form's change is a
path and a value; it is written into the text where the field stands. Afterwards the text is read
again: if it does not hold exactly the change and nothing else, it is written anew as a whole, so
that an edit can lose a comment, but never a value.
"""

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aggregation.errors import Problem
from aggregation.protocol.spec_text import Path, read_document
from portal.tasks import editor_yaml
from portal.tasks.editor_splice import Splice, index_of


@dataclass(frozen=True)
class Edit:
    """A field's new value; None takes the field out. In a list it takes an entry's place."""

    path: Path
    value: Any


def with_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text after these changes, one after another. `Unreadable` where it is no document."""
    for edit in edits:
        text = _with_edit(text, edit)
    return text


def _with_edit(text: str, edit: Edit) -> str:
    value = read_document(text).value
    if not isinstance(value, dict):
        raise Problem("The document is not a set of fields.", hint="Begin with `name: my-task`.")
    if not edit.path:
        raise Problem("A change names the field it is about.")
    wanted = copy.deepcopy(value)
    if not _apply(wanted, edit) and wanted == value:
        return text
    if text.lstrip().startswith("{"):
        return json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
    edited = Splice(text).with_value(edit.path, edit.value)
    return edited if _reads_as(edited, wanted) else editor_yaml.document(wanted)


def _apply(value: dict[str, Any], edit: Edit) -> bool:
    """Change the plain values; False where they hold the change already."""
    *steps, last = [str(step) for step in edit.path]
    held = _at(value, steps)
    if isinstance(held, list) and (index := index_of(last, held)) is not None:
        same = _alike(held[index], edit.value)
        held[index] = edit.value
        return not same
    parents: list[tuple[dict[str, Any], str]] = []
    for step in steps:
        if not isinstance(value.get(step), dict):
            if edit.value is None:
                return False
            value[step] = {}
        parents.append((value, step))
        value = value[step]
    if edit.value is not None:
        same = last in value and _alike(value[last], edit.value)
        value[last] = edit.value
        return not same
    if last not in value:
        return False
    del value[last]
    # A part without any field would be a field without a value.
    for parent, step in reversed(parents):
        if parent[step] == {}:
            del parent[step]
    return True


def _at(value: Any, steps: Sequence[str]) -> Any:
    """What stands at a path through fields and lists; None where nothing does."""
    for step in steps:
        if isinstance(value, list):
            index = index_of(step, value)
            value = value[index] if index is not None else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _reads_as(text: str, wanted: Any) -> bool:
    try:
        return _alike(read_document(text).value, wanted)
    except Problem:
        return False


def _alike(found: Any, wanted: Any) -> bool:
    """Equal in type as well: 1, 1.0 and true are three values here, and so are 0 and −0."""
    return repr(found) == repr(wanted) or (
        isinstance(found, dict)
        and isinstance(wanted, dict)
        and found.keys() == wanted.keys()
        and all(_alike(found[name], wanted[name]) for name in found)
    )
