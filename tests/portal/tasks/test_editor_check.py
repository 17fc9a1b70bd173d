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
from portal.tasks.editor_words import in_words_of_the_form
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
        judged = compile_text(odd, catalog, around.populations)[1]["diagnostics"]
        assert [d["message"] for d in found["diagnostics"]] == [
            in_words_of_the_form(d)["message"] for d in judged
        ]
        assert isinstance(found["consequences"], dict)


@pytest.mark.parametrize("text", ["", "[]", "name: [", "7", "{", "a: &b 1", "\ufeffname: a"])
def test_texts_that_are_no_spec_are_answered_too(text, around):
    found = check(text, around)
    assert found["accepted"] is False
    assert found["diagnostics"]


@pytest.mark.parametrize("ending", ["LIMIT 3", "UNION ALL SELECT COUNT.(*) FROM trips"])
def test_a_query_on_which_the_parser_itself_breaks_is_answered_too(ending, around):
    query = f"SELECT COUNT(*) AS n FROM trips |> {ending}"
    odd = with_edits(POINTS["weekly-trips"], [Edit(("client_sql",), query)])
    found = check(odd, around)
    assert [d["rule"] for d in found["diagnostics"]] == ["syntax"]
    assert found["results"] == []


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


def test_clip_uncertainty_is_typed_into_the_form_and_taken_out_again(catalog, around):
    text = POINTS["trip-lengths"]
    part = ["anonymization", "clip_uncertainty"]
    entries = {"count": "trips", "source": "A travel survey of 2025"}
    terms = {"random": "0.50", "systematic": "1"}
    changes = [{"path": [*part, name], "value": value} for name, value in entries.items()]
    changes += [{"path": [*part, "metrics", "trips", t], "value": v} for t, v in terms.items()]
    filled = changed_text(text, changes, catalog)
    assert read_document(filled).value["anonymization"]["clip_uncertainty"] == {
        "count": "trips",
        "source": "A travel survey of 2025",
        "metrics": {"trips": {"random": 0.5, "systematic": 1}},
    }
    found = check(filled, around)
    assert found["accepted"]
    said = found["consequences"]["anonymization.clip_uncertainty.count"]
    assert said == "In a cell of 10,000 events, trips gets ± 100 % for clipping, beside the noise."
    emptied = changed_text(filled, [{**change, "value": ""} for change in changes], catalog)
    assert read_document(emptied).value == read_document(text).value


def test_a_finding_in_a_query_has_its_place_in_the_document(around):
    for part, slug in (("client_sql", "weekly-trips"), ("sql", "trip-lengths")):
        text = POINTS[slug].replace("COUNT(*)", "nothing_here")
        [first, *_] = check(text, around)["diagnostics"]
        assert first["part"] == part
        line = text.splitlines()[first["document_line"] - 1]
        assert line[first["document_column"] - 1 :].startswith("nothing_here")


ELIGIBLE = "SELECT windows_waiting >= 2\n  AND nothing_here FROM device_facts"


@pytest.mark.parametrize("indent", [3, 4, 8])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_finding_has_its_place_however_far_in_a_query_stands(indent, end, around):
    lines = ["eligibility:", "  sql: |", *(" " * indent + line for line in ELIGIBLE.split("\n"))]
    text = end.join([*POINTS["trip-lengths"].splitlines(), *lines, ""])
    [found] = [d for d in check(text, around)["diagnostics"] if d["part"] == "eligibility.sql"]
    line = text.splitlines()[found["document_line"] - 1]
    assert line[found["document_column"] - 1 :].startswith("nothing_here")


def test_a_finding_in_a_query_in_quotes_stands_where_its_field_does(around):
    quoted = ELIGIBLE.replace("\n", " ")
    text = POINTS["trip-lengths"] + f'eligibility: {{sql: "{quoted}"}}\n'
    [found] = [d for d in check(text, around)["diagnostics"] if d["part"] == "eligibility.sql"]
    line = text.splitlines()[found["document_line"] - 1]
    assert line[found["document_column"] - 1 :].startswith('sql: "SELECT')


def test_what_nobody_sees_has_its_place_in_the_document(around):
    """In a query, in a text of several lines, and in a comment of the document."""
    text = POINTS["weekly-trips"]
    block = "description: |\n  Trips\n  by re\u202egion\n"
    described = "".join(
        block if line.startswith("description:") else line for line in text.splitlines(True)
    )
    for odd, begins in (
        (text.replace("FROM trips", "FROM trips --\u202e", 1), "\u202e"),
        (described, "description: |"),
        (f"{text}# \u2066\n", "\u2066"),
    ):
        assert odd != text
        found = check(odd, around)
        assert not found["accepted"]
        [one] = found["diagnostics"]
        assert one["rule"] == "unseen_character"
        line = odd.splitlines()[one["document_line"] - 1]
        assert line[one["document_column"] - 1 :].startswith(begins)


ROTATED = ("anonymization", "mechanism")


@pytest.fixture
def rotated(catalog):
    """Weekly trips as somebody writes them by hand: numbers in many spellings, and a comment."""
    text = changed_text(POINTS["weekly-trips"], [change("kind", "rotated")], catalog)
    text = text.replace("basis:", "basis: # from the fit").replace("0.0]", "-1.25e-05]", 1)
    return text.replace("[1.0, 1.0, 1.0]", "[1.0, 1.10, 1]", 1)


def change(*steps):
    *path, value = steps
    return {"path": [*ROTATED, *path], "value": value}


def test_each_number_of_a_matrix_typed_anew_changes_nothing(rotated, catalog, around):
    """In the spelling of a browser, where that is another number's type it stays a number."""
    mechanism = read_document(rotated).value["anonymization"]["mechanism"]
    assert check(rotated, around)["accepted"]
    for slice_, matrix in mechanism["basis"].items():
        for row, numbers in enumerate(matrix):
            for column, number in enumerate(numbers):
                same = change("basis", slice_, str(row), str(column), repr(number))
                assert changed_text(rotated, [same], catalog) == rotated
    for slice_, factors in mechanism["correction"].items():
        for at, factor in enumerate(factors):
            same = change("correction", slice_, str(at), repr(factor))
            assert changed_text(rotated, [same], catalog) == rotated


def test_a_number_of_a_matrix_is_judged_as_it_is_typed(rotated, catalog, around):
    lines = rotated.splitlines()
    text = changed_text(rotated, [change("basis", "driving", "2", "1", "-0.000125")], catalog)
    assert check(text, around)["accepted"]
    assert [new for new, old in zip(text.splitlines(), lines, strict=True) if new != old] == [
        next(line for line in lines if "driving: [[" in line).replace(
            "[0.0, 0.0, ", "[0.0, -0.000125, "
        )
    ]
    for typed, says in (
        (change("basis", "driving", "0", "0", "0"), "condition number"),
        (change("basis", "driving", "0", "0", "x"), "holds text, but it takes a number"),
        (change("basis", "driving", "0", "0", ""), "holds nothing, but it takes a number"),
        (change("correction", "driving", "1", "2.5"), "outside 1 to 2"),
    ):
        found = check(changed_text(rotated, [typed], catalog), around)
        assert [says in d["message"] for d in found["diagnostics"]] == [True], says


def test_a_matrix_of_another_size_is_made_to_fit_when_it_is_typed_in(rotated, catalog, around):
    for path in ("basis.driving", "correction.driving"):
        rotated = with_edits(rotated, [Edit((*ROTATED, *path.split(".")), [[1, 2]])])
    assert not check(rotated, around)["accepted"]
    changes = [
        change("basis", "driving", "1", "0", "-0.5"),
        change("correction", "driving", "0", 2),
    ]
    text = changed_text(rotated, changes, catalog)
    mechanism = read_document(text).value["anonymization"]["mechanism"]
    assert mechanism["basis"]["driving"] == [[1, 2, 0.0], [-0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert mechanism["correction"]["driving"] == [2, 1.0, 1.0]
    assert check(text, around)["accepted"]


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
