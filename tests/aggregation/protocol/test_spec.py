"""The spec document: reading, refusing, hashing, writing back."""

import json
from decimal import Decimal

import msgspec
import pytest
import yaml

from aggregation.protocol.spec import decimal_text
from aggregation.protocol.spec_reading import Misfits, Unreadable, read_spec
from aggregation.protocol.spec_writing import to_yaml
from aggregation.protocol.windows import Unit

TEXT = """\
name: weekly-trips
streams: [trips]
window: {unit: week}
client_sql: |
  SELECT activity, privacy_time_unit, COUNT(*) AS num_trips
  FROM trips GROUP BY activity, privacy_time_unit
server_sql: |
  SELECT activity, privacy_time_unit, SUM(num_trips) AS num_trips
  FROM device_results GROUP BY activity, privacy_time_unit
anonymization:
  epsilon: 0.50
  mechanism: {kind: joint_clipping, clip: 24}
"""


def test_it_works() -> None:
    spec = read_spec(TEXT)
    assert (spec.name, spec.window.unit, spec.anonymization.epsilon) == (
        "weekly-trips",
        Unit.WEEK,
        Decimal("0.5"),
    )
    assert spec.populations == ("all",)
    assert spec.aggregation.max_rows == 64


def test_yaml_and_json_give_the_same_hash() -> None:
    spec = read_spec(TEXT)
    assert read_spec(json.dumps(yaml.safe_load(TEXT))).sha256 == spec.sha256
    assert read_spec(spec.canonical()) == spec
    assert read_spec(spec.canonical()).sha256 == spec.sha256


def test_it_round_trips_through_readable_yaml() -> None:
    spec = read_spec(TEXT)
    text = to_yaml(spec)
    assert read_spec(text) == spec
    assert "client_sql: |\n  SELECT activity" in text
    assert "epsilon: 0.5\n" in text
    assert "max_rows" not in text


@pytest.mark.parametrize("word", ["1e5", "1e-5", "007", "null", "2026-11-09", "0o7", "0x10", "on"])
def test_names_that_look_like_something_else_stay_text(word: str) -> None:
    spec = read_spec(TEXT.replace("weekly-trips", f"'{word}'") + f"population: ['{word}']\n")
    assert (spec.name, spec.populations) == (word, (word,))
    assert read_spec(to_yaml(spec)) == spec


CLIPPED = (
    TEXT
    + """\
  clip_uncertainty:
    count: num_trips
    metrics:
      num_trips: {random: 0.620, together: "0.95", systematic: 0.003}
    source: A proxy
"""
)


def test_clip_uncertainty_is_exact_and_part_of_the_hash() -> None:
    spec = read_spec(CLIPPED)
    assert spec.anonymization.clip_uncertainty is not None
    terms = spec.anonymization.clip_uncertainty.metrics["num_trips"]
    assert (str(terms.random), str(terms.together)) == ("0.62", "0.95")
    assert read_spec(to_yaml(spec)) == spec
    assert "num_trips: {random: 0.62, together: 0.95, systematic: 0.003}" in to_yaml(spec)
    assert read_spec(spec.canonical()).sha256 == spec.sha256
    assert read_spec(CLIPPED.replace('"0.95"', "0.950")).sha256 == spec.sha256
    assert read_spec(CLIPPED.replace("0.003", "0.0031")).sha256 != spec.sha256
    assert read_spec(TEXT).sha256 != spec.sha256


@pytest.mark.parametrize(
    ("before", "after", "path", "words"),
    [
        ("random: 0.620", "rnd: 1", "anonymization.clip_uncertainty.metrics.num_trips.rnd",
         "Did you mean 'random'?"),
        ("    source: A proxy\n", "", "anonymization.clip_uncertainty.source", "Add `source: …`"),
        ("0.620", "1e1x", "anonymization.clip_uncertainty.metrics.num_trips.random",
         "without an exponent"),
    ],
)  # fmt: skip
def test_its_misfits_have_a_sentence(before: str, after: str, path: str, words: str) -> None:
    with pytest.raises(Misfits, match=words) as caught:
        read_spec(CLIPPED.replace(before, after))
    assert path in {found.path for found in caught.value.found}


@pytest.mark.parametrize("epsilon", ["0.5", "0.50", "5e-1", "'0.5'", "00.5"])
def test_one_epsilon_has_one_hash(epsilon: str) -> None:
    spec = read_spec(TEXT.replace("0.50", epsilon))
    assert spec.document()["anonymization"]["epsilon"] == "0.5"
    assert spec.sha256 == read_spec(TEXT).sha256


def test_decimals_have_one_text() -> None:
    assert [decimal_text(Decimal(d)) for d in ("2.00", "1E+1", "0.10", "100")] == [
        "2",
        "10",
        "0.1",
        "100",
    ]
    assert decimal_text(Decimal("NaN")) == "NaN"


@pytest.mark.parametrize(
    ("change", "rule", "path", "hint"),
    [
        (("epsilon:", "epsilom:"), "unknown_field", "anonymization.epsilom", "'epsilon'"),
        (("streams:", "stream:"), "unknown_field", "stream", "'streams'"),
        (
            ("joint_clipping", "joint_cliping"),
            "field_type",
            "anonymization.mechanism.kind",
            "joint_clipping",
        ),
        (("clip: 24", "clipp: 24"), "unknown_field", "anonymization.mechanism.clipp", "'clip'"),
        (("clip: 24", "clip: many"), "field_type", "anonymization.mechanism.clip", ""),
        (("unit: week", "unit: fortnight"), "field_type", "window.unit", ""),
        (("unit: week", "unit: week, grace_hours: 1.5"), "field_type", "window.grace_hours", ""),
        (("0.50", "'5e-1'"), "field_type", "anonymization.epsilon", "with a point"),
        (("0.50", "true"), "field_type", "anonymization.epsilon", "with a point"),
        (("name: weekly-trips\n", ""), "missing_field", "name", "name"),
        (("[trips]", "trips"), "field_type", "streams", ""),
    ],
)
def test_it_names_the_field_that_does_not_fit(
    change: tuple[str, str], rule: str, path: str, hint: str
) -> None:
    with pytest.raises(Misfits) as caught:
        read_spec(TEXT.replace(*change))
    found = caught.value.found[0]
    assert (found.rule, found.path) == (rule, path)
    assert hint in found.hint


def test_it_names_misfits_of_all_kinds_at_once() -> None:
    """Also several of one part, and those of fields whose types nest."""
    text = TEXT.replace("epsilon: 0.50", "epsilonn: 1").replace("unit: week", "unit: fortnight")
    text = text.replace("[trips]", "[trips, 7]").replace("clip: 24", "clip: many, clap: 1")
    with pytest.raises(Misfits) as caught:
        read_spec(text + "aggregation: {max_rows: many, min_contributions: few}\npublish: 3\n")
    assert {(m.path, m.rule) for m in caught.value.found} == {
        ("streams.1", "field_type"),
        ("window.unit", "field_type"),
        ("aggregation.max_rows", "field_type"),
        ("aggregation.min_contributions", "field_type"),
        ("anonymization.epsilonn", "unknown_field"),
        ("anonymization.epsilon", "missing_field"),
        ("anonymization.mechanism.clap", "unknown_field"),
        ("anonymization.mechanism.clip", "field_type"),
        ("publish", "field_type"),
    }
    assert all(m.place for m in caught.value.found)


def test_it_names_all_unknown_fields_with_their_places() -> None:
    with pytest.raises(Misfits) as caught:
        read_spec(TEXT.replace("streams:", "stream:").replace("epsilon:", "epsilom:"))
    assert [(m.path, m.place) for m in caught.value.found] == [
        ("stream", (2, 1)),
        ("streams", (1, 1)),
        ("anonymization.epsilom", (11, 3)),
        ("anonymization.epsilon", (10, 1)),
    ]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("[1, 2]", "fields"),
        ("just text", "fields"),
        ("a: 1\na: 2", "twice"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"description": "\\ud800"}', "half of a character"),
        ('{"\\udc00": 1}', "half of a character"),
        ("a: &x [1]\nb: *x", "anchor"),
        ("b: *x", "anchor"),
        ("a: !!python/object/apply:os.system ['true']", "tag"),
        ("a: 1\n---\nb: 2", "several"),
        ("a: [1, 2", "not YAML"),
        ("a:\n\t- b", "not YAML"),
        ("? [a]\n: 1", "name is text"),
        ("a: \x07", "characters"),
        (b"a: \xff", "UTF-8"),
        ("a: " + "[" * 20_000, "deep"),
        ("{" + '"a":{' * 10_000, "deep"),
        ("a: " + "x" * 70_000, "bytes"),
    ],
)
def test_it_refuses_what_is_no_document(text: str | bytes, word: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_spec(text)
    assert word in str(caught.value)


@pytest.mark.parametrize("text", ["name: a\nname: b\n", '{"name": "a",\n"name": "b"}'])
def test_an_unreadable_place_is_named(text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_spec(text)
    assert caught.value.place == (2, 1)


def test_a_character_in_two_halves_is_read() -> None:
    spec = read_spec(json.dumps(msgspec.to_builtins(read_spec(TEXT)) | {"description": "🦟"}))
    assert spec.description == "🦟"


@pytest.mark.parametrize(
    "change",
    [
        ("epsilon: 0.50", "epsilon: 1e-3x"),
        ("unit: week", "unit: fortnight"),
        ("unit: week", "unit: 7"),
        ("streams: [trips]", "streams: trips"),
    ],
)
def test_every_misfit_has_a_place_and_a_remedy(change: tuple[str, str]) -> None:
    assert change[0] in TEXT
    with pytest.raises(Misfits) as caught:
        read_spec(TEXT.replace(*change))
    assert all(m.hint and m.place for m in caught.value.found)
    assert "holds fields" not in str(caught.value)


def test_norway_and_whole_numbers_stay_what_they_are() -> None:
    scales = (
        "{kind: group_scaling, scale_by: [hour_of_day], clip: 1, scales: {0: {n: 1}, 1: {n: 2}}}"
    )
    text = TEXT.replace("{kind: joint_clipping, clip: 24}", scales)
    spec = read_spec(text + "population: [NO, no]\n")
    assert spec.populations == ("NO", "no")
    assert set(msgspec.to_builtins(spec.anonymization.mechanism)["scales"]) == {"0", "1"}


@pytest.mark.parametrize(
    ("written", "read"),
    [(".nan", "NaN"), (".inf", "Infinity"), ("-1", "-1"), ("0", "0"), ("1000000000",) * 2],
)
def test_an_epsilon_out_of_bounds_is_read_and_left_to_the_compiler(written: str, read: str) -> None:
    spec = read_spec(TEXT.replace("0.50", written))
    assert str(spec.anonymization.epsilon) == read
    assert spec.document()["anonymization"]["epsilon"] == read
