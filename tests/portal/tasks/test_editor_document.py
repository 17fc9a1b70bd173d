"""An edit changes its field in the text, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.protocol.spec_text import Unreadable, read_document
from portal.tasks.editor_document import Edit, with_edits
from portal.tasks.starting_points import starting_point, starting_points

TEXT = starting_point("weekly-trips").text
COMMENT = "# What 95 of 100 phones stay below in a week, of those that have the activity at all."


def edited(path, value, text=TEXT):
    return with_edits(text, [Edit(tuple(path.split(".")), value)])


def differing(before, after):
    """Lines that only one of the texts has."""
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_it_changes_one_line():
    gone, come = differing(TEXT, edited("anonymization.epsilon", 0.5))
    assert (gone, come) == (["  epsilon: 2"], ["  epsilon: 0.5"])


def test_a_field_on_a_line_with_others_is_changed_there():
    gone, come = differing(TEXT, edited("window.unit", "day"))
    assert come == ["window: {unit: day, grace_hours: 168}"]
    assert len(gone) == 1


def test_a_query_stays_a_block_of_text():
    sql = "SELECT 1 -- one: # two\n\n  FROM trips\n"
    text = edited("client_sql", sql)
    assert "client_sql: |\n  SELECT 1 -- one: # two\n\n    FROM trips\nserver_sql: |" in text
    assert read_document(text).value["client_sql"] == sql


def test_comments_stay():
    text = with_edits(
        TEXT,
        [
            Edit(("client_sql",), "SELECT 2\n"),
            Edit(("anonymization", "mechanism", "scales", "driving", "num_trips"), 12.5),
            Edit(("anonymization", "mechanism", "clip"), 4),
            Edit(("schedule", "conditions"), ["idle", "charging"]),
            Edit(("post_processing",), "emissions"),
        ],
    )
    assert COMMENT in text
    assert "driving: {num_trips: 12.5, distance_km: 410, duration_min: 620}" in text


def test_a_comment_beside_or_below_a_value_stays():
    text = "name: a # why\n# below\nstreams: [trips] # which\n\n# the end\n"
    assert edited("name", "b", text) == text.replace("a #", "b #")
    assert edited("streams", ["x", "z"], text) == text.replace("[trips]", "[x, z]")
    longer = edited("name", "two\nlines", text)
    assert "# below\nstreams" in longer


def test_a_new_field_goes_where_it_belongs():
    text = edited("description", "What", "name: a\nstreams: [trips]\n")
    assert text == "name: a\ndescription: What\nstreams: [trips]\n"
    nested = edited("eligibility.sql", "SELECT 1", "name: a\npublish: {audience: public}\n")
    assert nested == "name: a\neligibility: {sql: SELECT 1}\npublish: {audience: public}\n"


MATRIX = """\
name: a
basis: # fitted
  by/car: [[0.10, -1.0e-05], # trips
           [0.0, 2.50]]
  on-foot:
  - [1, 0]
  - - 0
    - 1
"""


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        ("by/car.0.0", 0.2, "0.10", "0.2"),
        ("by/car.0.1", -3e-07, "-1.0e-05", "-3e-07"),
        ("by/car.1.1", 2, "2.50", "2"),
        ("by/car.1.0", None, "0.0, 2", "null, 2"),
        ("on-foot.1.1", 1.5, "    - 1", "    - 1.5"),
        ("on-foot.0.1", "x y", "[1, 0]", "[1, x y]"),
    ],
)
def test_an_entry_of_a_list_is_changed_in_its_place(path, value, old, new):
    assert edited(f"basis.{path}", value, MATRIX) == MATRIX.replace(old, new)


@pytest.mark.parametrize("path", ["0.9", "9.0", "0.x", "0.0.0", "9" * 100])
def test_what_is_no_place_in_a_list_is_answered_as_well(path):
    assert read_document(edited(f"basis.by/car.{path}", 1, MATRIX)).value["name"] == "a"


def test_taking_a_field_out_takes_only_it():
    assert differing(TEXT, edited("publish", None)) == (["publish: {audience: internal}"], [])
    assert "server_sql" not in edited("server_sql", None)
    assert read_document(edited("publish.audience", None)).value.get("publish") is None


def test_what_is_not_there_cannot_be_taken_out():
    assert edited("publish.columns", None) == TEXT
    assert edited("eligibility.nothing.here", None) == TEXT


def test_the_value_that_is_there_changes_nothing():
    assert edited("anonymization.epsilon", 2) == TEXT


def test_json_stays_json():
    text = json.dumps({"name": "a", "window": {"unit": "week"}})
    changed = edited("window.unit", "day", text)
    assert json.loads(changed) == {"name": "a", "window": {"unit": "day"}}


def test_what_is_no_document_is_not_edited():
    with pytest.raises(Unreadable):
        edited("name", "a", "name: [")


@pytest.mark.parametrize("value", [10**30, -(10**38), 2.5e300])
def test_a_long_number_stays_a_number(value):
    assert (
        read_document(edited("anonymization.epsilon", value)).value["anonymization"]["epsilon"]
        == value
    )


PATHS = [
    ("name",),
    ("description",),
    ("client_sql",),
    ("streams",),
    ("window", "unit"),
    ("window", "new"),
    ("eligibility", "sql"),
    ("anonymization", "epsilon"),
    ("anonymization", "mechanism", "scales", "walking", "num_trips"),
    ("anonymization", "mechanism", "scales", "new/slice", "num_trips"),
    ("anonymization", "mechanism"),
    ("publish", "columns"),
    ("sql",),
]
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=40
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False),
    TEXTS,
    st.sampled_from(["no", "1e3", "0x1f", "~", "- a", "a: b", "{x}", "'q'", " lead", "end ", "\n"]),
    st.lists(TEXTS, max_size=3),
    st.dictionaries(st.text("ab/ -:#", min_size=1, max_size=4), st.integers(), max_size=3),
)


@given(
    text=st.sampled_from([point.text for point in starting_points()]),
    edits=st.lists(st.tuples(st.sampled_from(PATHS), VALUES), max_size=4),
)
def test_whatever_is_typed_the_text_reads_back_as_the_old_values_with_the_change(text, edits):
    for path, value in edits:
        before = read_document(text).value
        text = with_edits(text, [Edit(path, value)])
        after = read_document(text).value
        assert _at(after, path) == value
        for name in set(before) | set(after) - {path[0]}:
            if name != path[0]:
                assert repr(after.get(name)) == repr(before.get(name))


def _at(value, path):
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value
