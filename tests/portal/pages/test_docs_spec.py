"""What the documentation says about task specs is what the code reads."""

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import yaml

from aggregation.compiler import bounds
from aggregation.compiler.report import ACCEPTED, compile_text
from aggregation.protocol import device_facts
from aggregation.protocol.anonymization import ClipTerms, Mechanism, Suppression
from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_text import MAX_BYTES
from aggregation.protocol.steps import Norms
from aggregation.protocol.streams import Catalog
from tests.portal.pages.reading_docs import fences, tables, text

_NESTED = {"suppression": Suppression}
_PLAIN = {None: "none", msgspec.UNSET: "none", "": '""'}


def leaves(struct: type[msgspec.Struct], path: str = "") -> Iterator[tuple[str, str]]:
    """Every field of a spec with its default, as YAML would show it."""
    for field in msgspec.structs.fields(struct):
        inner = _NESTED.get(field.name, field.type)
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            yield from leaves(inner, f"{path}{field.name}.")
        else:
            yield f"{path}{field.name}", "required" if field.required else _shown(field.default)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return "true" if value is True else _PLAIN.get(value, str(value))


def test_every_field_is_described_with_its_default() -> None:
    rows = dict(tables("task-spec"))["Fields"]
    assert [(row[0], row[1]) for row in rows] == list(leaves(Spec))


def test_the_example_is_accepted_with_and_without_clip_uncertainty(catalog: Catalog) -> None:
    example, part = fences("task-spec", "yaml")
    whole = {**yaml.safe_load(example.content), **yaml.safe_load(part.content)}
    for document in (example.content, yaml.safe_dump(whole)):
        code, report = compile_text(document, catalog)
        assert (code, list(report["diagnostics"])) == (ACCEPTED, [])


def test_every_term_of_clip_uncertainty_is_described() -> None:
    rows = dict(tables("task-spec"))["Clip uncertainty"]
    terms = [f"metrics.….{term}" for term in ClipTerms.__struct_fields__]
    assert [row[0] for row in rows] == ["count", *terms, "source"]


def test_every_mechanism_is_described_with_its_fields() -> None:
    described = {row[0]: row[1] for row in dict(tables("task-spec"))["Mechanisms"]}
    assert described == {
        kind.__struct_config__.tag: ", ".join(kind.__struct_fields__)
        for kind in get_args(Mechanism)
    }


def test_every_step_is_described_with_its_fields() -> None:
    described = {row[0]: row[1] for row in dict(tables("task-spec"))["Built-in steps"]}
    assert described == {
        kind.__struct_config__.tag: ", ".join(kind.__struct_fields__) for kind in get_args(Norms)
    }


def test_every_device_fact_is_described() -> None:
    rows = dict(tables("task-spec"))["What eligibility can read"]
    assert [row[0] for row in rows] == list(device_facts.COLUMNS)


def test_the_size_of_a_document_is_the_code_s() -> None:
    assert f"at most {MAX_BYTES // 1024} kB" in text("task-spec")


def test_the_ages_that_eligibility_tells_apart_are_the_code_s() -> None:
    days = bounds.MIN_AGE_SPAN_DAYS
    assert f"numbers that lie {days} days or more apart, the first of them {days}" in text(
        "task-spec"
    )
