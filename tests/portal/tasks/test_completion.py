"""What is offered while one types."""

import pytest

from portal.tasks.completion import matching_values, output_columns, schema


@pytest.fixture
def world(tmp_path_factory, settings):
    """The real streams with places, where the portal looks for them."""
    from portal.streams.geography import Source, most_populous_places
    from portal.streams.services import install_streams

    data = tmp_path_factory.mktemp("places")
    source = Source.holding(most_populous_places(200))
    install_streams(folder=data / "streams", source=source, tell=lambda sentence: None)
    settings.DATA = data


def test_the_schema_has_what_a_query_may_read(world):
    streams = {stream["name"]: stream for stream in schema()}
    names = [column["name"] for column in streams["trips"]["columns"]]
    assert "event_time" not in names
    assert "privacy_time_unit" in names
    [activity] = [c for c in streams["trips"]["columns"] if c["name"] == "activity"]
    assert activity["values"][0] == "walking"


def test_large_domains_are_searched_by_what_was_typed(world):
    [region] = [c for c in schema()[1]["columns"] if c["name"] == "region"]
    assert region["values"] == []
    assert region["size"] == 200
    [found, *_] = matching_values(stream="trips", column="region", text="tok")
    assert found["label"] == "Tokyo"
    assert found["value"].isdigit()
    assert found["detail"] == "Japan"
    assert len(matching_values(stream="trips", column="region", text="")) == 20


def test_countries_are_found_by_name(world):
    [found, *_] = matching_values(stream="trips", column="country", text="jap")
    assert found["value"] == "JP"


@pytest.mark.parametrize(
    ("stream", "column"), [("nothing", "a"), ("trips", "nothing"), ("trips", "distance_km")]
)
def test_what_has_no_values_has_none(world, stream, column):
    assert matching_values(stream=stream, column=column, text="a") == []


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT a, COUNT(*) AS n FROM t GROUP BY a", ["a", "n"]),
        (
            "WITH x AS (SELECT 1 AS q) SELECT x.q AS z, privacy_time_unit FROM x",
            ["z", "privacy_time_unit"],
        ),
        ("SELECT a FROM t UNION ALL SELECT b FROM u", ["a"]),
        ("SELECT * FROM t", []),
        ("SELECT a, FROM", ["a"]),
        ("SELEC", []),
        ("", []),
        ("SELECT 'a", []),
        ("SELECT 1; SELECT 2", []),
        ("(" * 3000, []),
    ],
)
def test_a_query_tells_the_names_of_its_columns(sql, names):
    assert output_columns(sql) in (names, [])
    if names and "FROM" in sql and not sql.endswith("FROM"):
        assert output_columns(sql) == names
