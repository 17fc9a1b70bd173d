import pytest

from aggregation.protocol.shipped import shipped_catalog
from aggregation.protocol.streams import Catalog, Column, Stream

STAMPED = ["privacy_time_unit", "hour_of_day", "day_of_week"]


def _stream(catalog: Catalog, name: str) -> Stream:
    found = catalog.stream(name)
    assert found is not None
    return found


def _values(catalog: Catalog, stream: str, column: str) -> list[str | int]:
    found = _stream(catalog, stream).column(column)
    assert found is not None
    assert found.domain is not None
    return list(catalog.domain(found.domain))


def test_the_two_streams_have_the_columns_of_the_contract(catalog: Catalog) -> None:
    assert [s.name for s in catalog] == ["assistant", "trips"]
    assert [c.name for c in _stream(catalog, "trips").columns] == [
        *["region", "country", "activity", "direction", "distance_km", "duration_min"],
        *["event_time", *STAMPED],
    ]
    assert [c.name for c in _stream(catalog, "assistant").columns] == [
        *["feature", "outcome", "rating", "latency_ms", "event_time", *STAMPED]
    ]


@pytest.mark.parametrize(
    ("stream", "column", "values"),
    [
        ("trips", "activity", ["walking", "running", "cycling", "motorcycling", "driving", "bus",
                               "train", "subway", "flying"]),
        ("trips", "direction", ["within", "outbound", "inbound"]),
        ("trips", "country", ["DE", "FR", "US"]),
        ("trips", "hour_of_day", list(range(24))),
        ("trips", "day_of_week", list(range(7))),
        ("assistant", "feature", ["summarise", "reply", "transcribe", "translate", "search"]),
        ("assistant", "outcome", ["accepted", "edited", "dismissed", "failed"]),
        ("assistant", "rating", [1, 2, 3, 4, 5]),
    ],
)  # fmt: skip
def test_domains_hold_the_declared_values_in_order(
    catalog: Catalog, stream: str, column: str, values: list[str | int]
) -> None:
    assert _values(catalog, stream, column) == values


def test_regions_keep_the_order_they_are_given_in() -> None:
    made = shipped_catalog(regions=["30", "10", "20"], countries=["DE"])
    assert _values(made, "trips", "region") == ["30", "10", "20"]


@pytest.mark.parametrize(
    ("stream", "column", "expected"),
    [
        ("trips", "distance_km", ("real", "km", 0)),
        ("trips", "duration_min", ("real", "min", 0)),
        ("assistant", "latency_ms", ("real", "ms", 0)),
        ("assistant", "rating", ("integer", "", 1)),
    ],
)
def test_metrics_have_a_type_a_unit_a_minimum_and_a_typical_range(
    catalog: Catalog, stream: str, column: str, expected: tuple[str, str, float]
) -> None:
    found = _stream(catalog, stream).column(column)
    assert isinstance(found, Column)
    assert (found.type, found.unit, found.minimum) == expected
    assert found.typical is not None
    assert expected[2] <= found.typical[0] < found.typical[1]


def test_only_the_rating_may_be_missing(catalog: Catalog) -> None:
    assert [c.name for s in catalog for c in s.columns if c.nullable] == ["rating"]


def test_every_column_is_described_and_every_key_has_its_domain(catalog: Catalog) -> None:
    for column in (c for s in catalog for c in s.columns):
        assert column.description.endswith(".")
        if column.type == "text" and not column.stamped:
            assert column.domain


def test_only_event_time_cannot_be_read(catalog: Catalog) -> None:
    hidden = [(s.name, c.name) for s in catalog for c in s.columns if not c.queryable]
    assert hidden == [("assistant", "event_time"), ("trips", "event_time")]
