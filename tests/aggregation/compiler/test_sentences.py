"""A refusal says the true reason, and its remedy can be followed."""

import json
from typing import Any

import pytest

from aggregation.compiler.guard.server import TAKEN
from aggregation.compiler.report import compile_text
from aggregation.release import emissions
from tests.aggregation.compiler.corpus import BASE, catalog

KEYS = "Keys are columns with a domain, or CASE … THEN 'label' over literals."
START = "SELECT activity, privacy_time_unit, COUNT(*) AS n"
GROUP = "GROUP BY activity, privacy_time_unit"
NO_CONDITION = (
    "mixed_types: A condition is text. Compare it with a value, such as activity = 'bus'."
)
SUMS = "Use SUM, COUNT, AVG, or one of them divided by another; compute the rest in client_sql."


@pytest.mark.parametrize(
    ("value", "how"),
    [
        ("''", "an empty text"),
        ("1.0", "a number that is not written as a whole one"),
        ("-0.5", "a number that is not written as a whole one"),
        ("hour_of_day + 1", "a computed value"),
        ("distance_km", "any distance_km"),
        ("CASE WHEN hour_of_day > 3 THEN '' ELSE 'a' END", "an empty text"),
    ],
)
def test_a_choice_that_is_no_key_says_which_value_is_not(value: str, how: str) -> None:
    key = f"CASE WHEN hour_of_day > 3 THEN {value} END"
    found = _said(client_sql=_client(f"{key} AS k"), server_sql=_server("k"))
    assert found == [
        f"key_domain: k is a choice that may give {how}, so it cannot be a key. {KEYS}"
    ]


def test_no_hint_names_what_no_query_can_read() -> None:
    (near,) = _said(client_sql=_client("event_tme"), server_sql=_server("event_tme"))
    (far,) = _said(client_sql=_client("zzz"), server_sql=_server("zzz"))
    assert near.startswith("unknown_column: There is no column event_tme here. ")
    assert far.startswith("unknown_column: There is no column zzz here. There are region, ")
    assert "event_time" not in near + far


@pytest.mark.parametrize("column", ["main.trips.activity", "temp.trips.activity", "a.b.trips.x"])
def test_a_column_of_a_schema_is_told_apart_from_syntax(column: str) -> None:
    found = _said(client_sql=_client(column))
    assert found == [
        "qualified_table: The table trips is named with a schema or database. "
        "Write the stream's name alone."
    ]


@pytest.mark.parametrize("name", ["SUM", "COUNT", "AVG"])
def test_distinct_across_devices_is_refused_by_its_function(name: str) -> None:
    found = _said(server_sql=_server("activity", f"{name}(DISTINCT n) AS n"))
    said = f"server_measure: {name}(DISTINCT …) across devices is not a sum. {SUMS}"
    assert said in found


def test_a_result_has_no_column_by_the_name_of_emissions() -> None:
    assert emissions.COLUMN in TAKEN
    found = _said(server_sql=_server("activity", f"SUM(n) AS {emissions.COLUMN}"))
    assert found == [
        f"server_column_names: {emissions.COLUMN} is the name of the emissions that are worked out "
        "of a release. Choose another name."
    ]


def test_a_result_has_a_metric_among_its_columns() -> None:
    found = _said(publish={"columns": ["activity"]})
    said = "publish_columns: publish.columns names keys alone: no number would be shown."
    assert found == [f"{said} Add one of n."]


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("hour_of_day", "server_key"),
        ("CASE WHEN hour_of_day > 12 THEN 1 ELSE 0 END", "server_key"),
        ("activity", "metric_type"),
    ],
)
def test_a_key_under_two_names_is_told_of_as_that(value: str, rule: str) -> None:
    client = f"SELECT {value} AS a, {value} AS b, privacy_time_unit, COUNT(*) AS n FROM trips"
    server = "SELECT a, b, privacy_time_unit, SUM(n) AS n FROM device_results GROUP BY 1, 2, 3"
    assert _said(client_sql=f"{client} GROUP BY 1, 2, 3", server_sql=server) == [
        f"{rule}: b is the key a under another name. Use a, and leave b out."
    ]


def test_what_only_the_server_groups_by_is_told_of_as_that() -> None:
    client = "SELECT activity, 1 AS one, privacy_time_unit, COUNT(*) AS n FROM trips"
    server = "SELECT activity, one, privacy_time_unit, SUM(n) AS n FROM device_results"
    found = _said(client_sql=f"{client} {GROUP}", server_sql=f"{server} GROUP BY 1, 2, 3")
    said = "server_key: The client query does not group by one."
    assert found == [f"{said} Group by it in client_sql too, or aggregate it."]


@pytest.mark.parametrize("name", ["true", '"false"', "FALSE"])
def test_no_column_is_called_as_a_truth_value(name: str) -> None:
    word = name.strip('"').upper()
    said = f"output_name: {word} is a value, so it is no name for a column. Choose another name."
    in_client = _client("activity").replace("AS n", f"AS n, SUM(hour_of_day) AS {name}")
    in_server = _server("activity", f"SUM(n) AS n, COUNT(*) AS {name}")
    assert _said(client_sql=in_client) == [said]
    assert _said(server_sql=in_server) == [said]
    listed = (
        f"WITH t(activity, privacy_time_unit, {name}) AS (SELECT activity, privacy_time_unit, 1"
    )
    assert _said(client_sql=f"{listed} FROM trips) {START} FROM t {GROUP}") == [said]


@pytest.mark.parametrize(
    "query",
    [
        f"{START} FROM trips WHERE activity {GROUP}",
        f"{START} FROM trips {GROUP} HAVING activity",
        f"{START} FROM trips {GROUP} HAVING MIN(direction)",
        f"{START}, COUNT(*) FILTER (WHERE 'bus') AS m FROM trips {GROUP}",
        f"{START}, SUM(IIF(activity, 1, 0)) AS m FROM trips {GROUP}",
        f"{START} FROM trips WHERE CASE WHEN activity THEN 1 END {GROUP}",
    ],
)
def test_text_is_no_condition(query: str) -> None:
    assert _said(client_sql=query) == [NO_CONDITION]


def test_text_is_no_condition_of_a_join_or_of_eligibility() -> None:
    steps = f"{START} FROM trips JOIN (SELECT region AS r, 1 AS one FROM trips) AS x ON r"
    assert NO_CONDITION in _said(client_sql=f"{steps} {GROUP}")
    asked = "SELECT windows_waiting >= 2 FROM device_facts WHERE 'yes'"
    assert _said(eligibility={"sql": asked}) == [NO_CONDITION]


def _client(key: str) -> str:
    return f"SELECT {key}, privacy_time_unit, COUNT(*) AS n FROM trips GROUP BY 1, 2"


def _server(key: str, metric: str = "SUM(n) AS n") -> str:
    return f"SELECT {key}, privacy_time_unit, {metric} FROM device_results GROUP BY 1, 2"


def _said(**changed: Any) -> list[str]:
    code, report = compile_text(json.dumps({**BASE, **changed}), catalog())
    assert code == 1
    found = [d for d in report["diagnostics"] if d["severity"] == "refusal"]
    return [f"{d['rule']}: {d['message']} {d['hint']}" for d in found]
