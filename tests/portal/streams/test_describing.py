import sqlite3
from contextlib import closing

import pytest

from aggregation.protocol.streams import Catalog
from portal.streams.describing import StreamFacts

_TYPES = {"text": "TEXT", "integer": "INTEGER", "real": "REAL", "time": "REAL"}


def _facts(catalog: Catalog, name: str) -> StreamFacts:
    stream = catalog.stream(name)
    assert stream is not None
    return StreamFacts.of(stream, catalog)


def test_each_column_has_one_use(catalog: Catalog) -> None:
    uses = {f.column.name: f.use for f in _facts(catalog, "assistant").columns}
    assert uses == {
        "feature": "Group by",
        "outcome": "Group by",
        "rating": "Group by or sum",
        "latency_ms": "Sum",
        "event_time": "Cannot be read",
        "privacy_time_unit": "Group by",
        "hour_of_day": "Group by",
        "day_of_week": "Group by",
    }


def test_keys_and_measures_are_told_apart(catalog: Catalog) -> None:
    trips = _facts(catalog, "trips")
    assert [f.column.name for f in trips.keys] == ["region", "country", "activity", "direction"]
    assert [f.column.name for f in trips.measures] == ["distance_km", "duration_min"]
    assert len(trips.recorded) == 7
    assert len(trips.stamped) == 3
    assert trips.cells == 12 * 9 * 3


def test_only_few_values_are_written_out(catalog: Catalog) -> None:
    trips = _facts(catalog, "trips")
    few = {f.column.name: len(f.few_values) for f in trips.columns if f.size}
    assert few == {
        "region": 0, "country": 3, "activity": 9, "direction": 3, "hour_of_day": 0,
        "day_of_week": 7,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["trips", "assistant"])
def test_the_example_runs_on_a_table_with_the_streams_columns(catalog: Catalog, name: str) -> None:
    facts = _facts(catalog, name)
    columns = ", ".join(f"{f.column.name} {_TYPES[f.column.type]}" for f in facts.columns)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE {name} ({columns})")
        database.execute(f"INSERT INTO {name} DEFAULT VALUES")
        assert len(database.execute(facts.example_sql).fetchall()) == 1
    assert "event_time" not in facts.example_sql
