"""What the editor's template shows of the form: each field with its value and what follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from portal.clock import civil_clock
from portal.streams.selectors import installed_catalog
from portal.tasks.editor_check import Surroundings
from portal.tasks.editor_cost import cost
from portal.tasks.editor_fields import Choice, Field, Section
from portal.tasks.editor_sections import SECTIONS
from portal.tasks.judging import weekly_cap
from portal.tasks.populations import known_populations


@dataclass(frozen=True)
class Shown:
    """A field of the form with what the document holds."""

    field: Field
    value: Any
    consequence: str
    choices: tuple[Choice, ...]


def around(task: str) -> Surroundings:
    now = civil_clock().now()
    return Surroundings(
        installed_catalog(),
        known_populations(),
        weekly_cap(),
        now,
        cost=partial(cost, task=task, now=now),
    )


def form_sections(
    document: Mapping[str, Any], said: Mapping[str, str]
) -> list[tuple[Section, list[Shown]]]:
    return [(section, [_shown(f, document, said) for f in section.fields]) for section in SECTIONS]


def _shown(field: Field, document: Mapping[str, Any], said: Mapping[str, str]) -> Shown:
    choices = field.choices
    if field.path == "streams":
        choices = tuple(Choice(s.name, s.title) for s in installed_catalog())
    return Shown(field, _value(field, document), said.get(field.path, ""), choices)


def _value(field: Field, document: Mapping[str, Any]) -> Any:
    value: Any = document
    for step in field.steps:
        value = value.get(step) if isinstance(value, Mapping) else None
    if value is None:
        value = field.default
    if field.kind == "names" and isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "" if value is None else value
