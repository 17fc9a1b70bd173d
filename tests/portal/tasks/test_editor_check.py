"""Whatever a document holds, the page has an answer."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from aggregation.compiler.report import compile_text
from aggregation.protocol.spec_text import read_document
from portal.tasks.editor_check import Surroundings, changed_text, check
from portal.tasks.editor_context import form_sections
from portal.tasks.editor_document import Edit, with_edits
from portal.tasks.editor_sections import FIELDS
from portal.tasks.starting_points import starting_points

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
ODD = [[], {}, [1], {"a": [None]}, "", "x", -1, 0, 1e300, float("inf"), True]
POINTS = {point.slug: point.text for point in starting_points()}
PATHS = [*FIELDS, "window", "anonymization", "anonymization.mechanism", "client_sql", "sql", "name"]


@pytest.fixture
def around(catalog):
    return Surroundings(catalog, frozenset({"all", "DE"}), Decimal(4), NOW)


@pytest.mark.parametrize("path", PATHS)
def test_odd_values_are_answered_like_any_other(path, around, catalog):
    text = POINTS["trip-lengths"]
    for value in ODD:
        odd = with_edits(text, [Edit(tuple(path.split(".")), value)])
        found = check(odd, around)
        assert found["text"] == odd
        assert [d["message"] for d in found["diagnostics"]] == [
            d["message"] for d in compile_text(odd, catalog, around.populations)[1]["diagnostics"]
        ]
        assert isinstance(found["consequences"], dict)


@pytest.mark.parametrize("text", ["", "[]", "name: [", "7", "{", "a: &b 1", "\ufeffname: a"])
def test_texts_that_are_no_spec_are_answered_too(text, around):
    found = check(text, around)
    assert found["accepted"] is False
    assert found["diagnostics"]


@pytest.mark.parametrize("slug", POINTS)
def test_filling_every_field_with_its_own_value_changes_nothing(slug, catalog, settings, around):
    """Switching between the form and the YAML loses nothing: the form says what the text says."""
    catalog.write(settings.DATA / "streams")
    text = POINTS[slug]
    document = read_document(text).value
    for _, shown in form_sections(document, {}):
        for item in shown:
            if _at(document, item.field.steps) is not None:
                change = {"path": item.field.path.split("."), "value": _typed(item.value)}
                assert changed_text(text, [change], catalog) == text, item.field.path


@pytest.mark.parametrize("path", FIELDS)
def test_every_field_of_the_form_can_be_changed_and_changed_back(path, catalog):
    text, steps = POINTS["weekly-trips"], path.split(".")
    before = _at(read_document(text).value, steps)
    if before is None or path.endswith("kind"):
        return
    there = changed_text(text, [{"path": steps, "value": "7"}], catalog)
    back = changed_text(there, [{"path": steps, "value": _typed(before)}], catalog)
    assert back == text


def test_a_finding_in_a_query_has_its_place_in_the_document(around):
    for part, slug in (("client_sql", "weekly-trips"), ("sql", "trip-lengths")):
        text = POINTS[slug].replace("COUNT(*)", "nothing_here")
        [first, *_] = check(text, around)["diagnostics"]
        assert first["part"] == part
        line = text.splitlines()[first["document_line"] - 1]
        assert line[first["document_column"] - 1 :].startswith("nothing_here")


def test_a_population_that_nobody_made_is_marked_where_it_stands(around):
    text = POINTS["weekly-trips"].replace("population: all", "population: [all, de]")
    [found] = check(text, around)["diagnostics"]
    assert (found["rule"], found["part"]) == ("population", "population.1")
    assert found["message"] == "There is no population de."
    assert found["hint"] == "Did you mean DE? Operators can add others."
    line = text.splitlines()[found["document_line"] - 1]
    assert line[found["document_column"] - 1 :] == "de]"


def _at(value, steps):
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _typed(value):
    """As the page sends it."""
    return value if isinstance(value, bool | list) else str(value)
