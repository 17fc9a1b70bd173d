"""Execute: events in, a bounded part out, and nothing else in any case."""

from datetime import timedelta

import pytest

from aggregation.errors import Problem
from aggregation.ondevice.events import Event, event_columns
from aggregation.ondevice.execute import PreparedTask, execute
from aggregation.protocol.anonymization import GRID, JointClipping
from aggregation.protocol.client_task import Key
from aggregation.protocol.domains import Domain
from aggregation.protocol.part import Part
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from tests.aggregation.ondevice.examples import WEEK, at, client_task, trip

DRIVING_WITHIN_1001 = 12
UNIT = GRID // 1024  # grid units of one trip, one km, one minute at a clip of 1024


def is_zero(part: Part) -> bool:
    return len(part.ranks) == 0 and part.values.shape == (0, 3)


def ran(catalog: Catalog, *events: Event, sql: str = "", **changes: object) -> Part:
    if sql:
        changes["sql"] = sql
    return execute(client_task(catalog, **changes), {"trips": events}, WEEK, catalog)


def test_it_works(catalog: Catalog) -> None:
    part = ran(catalog, trip(), trip(), trip(region="1003", activity="bus"))
    assert part.ranks.tolist() == [DRIVING_WITHIN_1001, 2 * 27 + 15]
    assert part.values.tolist() == [[2 * UNIT, 16 * UNIT, 32 * UNIT], [UNIT, 8 * UNIT, 16 * UNIT]]


def test_events_have_their_own_columns_in_declared_order(catalog: Catalog) -> None:
    stream = catalog.stream("trips")
    assert stream is not None
    expected = ("region", "country", "activity", "direction", "distance_km", "duration_min")
    assert event_columns(stream) == expected


def test_only_events_of_the_window_count(catalog: Catalog) -> None:
    inside = [trip(after=timedelta(0)), trip(after=timedelta(days=7, microseconds=-1))]
    outside = [trip(after=timedelta(days=7)), trip(after=timedelta(microseconds=-1))]
    part = ran(catalog, *inside, *outside, trip()._replace(time=float("nan")))
    assert part.values[0, 0] == 2 * UNIT


def test_so_it_is_where_a_column_is_stamped(catalog: Catalog) -> None:
    """Of a Monday's midnight, one event at its start and one at its end are of two weeks."""
    midnights = [trip(after=timedelta(days=days)) for days in (0, 7)]
    last = trip(after=timedelta(days=7, microseconds=-1))
    sql, reads = COUNT.format(key="hour_of_day"), {"trips": ("hour_of_day",)}
    part = ran(catalog, *midnights, last, sql=sql, keys=("hour_of_day",), reads=reads)
    assert part.ranks.tolist() == [0, 23]
    assert part.values[:, 0].tolist() == [UNIT, UNIT]


def test_no_events_are_the_zero_update(catalog: Catalog) -> None:
    assert is_zero(ran(catalog))
    assert is_zero(execute(client_task(catalog), {}, WEEK, catalog))


COUNT = "SELECT {key}, privacy_time_unit, COUNT(*), 0, 0 FROM trips GROUP BY 1, 2"


@pytest.mark.parametrize(
    ("column", "utc", "utc_offset", "expected"),
    [
        ("hour_of_day", "2026-11-09T14:59:59", 0, 14),
        ("hour_of_day", "2026-11-09T23:30:00", 3600, 0),
        ("hour_of_day", "2026-11-09T00:10:00", -5 * 3600, 19),
        ("hour_of_day", "2026-11-09T00:10:00", int(5.75 * 3600), 5),
        ("day_of_week", "2026-11-09T12:00:00", 0, 0),
        ("day_of_week", "2026-11-15T12:00:00", 0, 6),
        ("day_of_week", "2026-11-09T23:30:00", 3600, 1),
        ("day_of_week", "2026-11-09T00:10:00", -5 * 3600, 6),
    ],
)
def test_hours_and_weekdays_are_local_civil_time(
    catalog: Catalog, column: str, utc: str, utc_offset: int, expected: int
) -> None:
    event = trip(utc_offset=utc_offset)._replace(time=at(utc))
    part = ran(
        catalog, event, sql=COUNT.format(key=column), keys=(column,), reads={"trips": (column,)}
    )
    assert part.ranks.tolist() == [expected]


def test_the_window_is_stamped_by_the_runtime(catalog: Catalog) -> None:
    faked = "SELECT region, activity, direction, '2026-11-02', COUNT(*), 1, 1 FROM trips"
    assert is_zero(ran(catalog, trip(), sql=faked))
    missing = "SELECT region, activity, direction, NULL, COUNT(*), 1, 1 FROM trips"
    assert is_zero(ran(catalog, trip(), sql=missing))


def test_rows_outside_the_domain_are_dropped_and_the_others_stay(catalog: Catalog) -> None:
    part = ran(catalog, trip(), trip(region="Atlantis"), trip(activity="teleporting"))
    assert part.ranks.tolist() == [DRIVING_WITHIN_1001]
    assert part.values[0, 0] == UNIT


def test_rows_of_one_cell_are_summed(catalog: Catalog) -> None:
    raw = "SELECT region, activity, direction, privacy_time_unit, 1, distance_km, 0 FROM trips"
    part = ran(catalog, trip(), trip(distance_km=2.0), sql=raw)
    assert part.values.tolist() == [[2 * UNIT, 10 * UNIT, 0]]


def test_null_metrics_count_as_nothing(catalog: Catalog) -> None:
    sql = "SELECT region, activity, direction, privacy_time_unit, 1, NULL, NULL FROM trips"
    assert ran(catalog, trip(), sql=sql).values.tolist() == [[UNIT, 0, 0]]


HEAD = "SELECT region, activity, direction, privacy_time_unit, "
BREAKS = {
    "text metric": HEAD + "1, 1, '1' FROM trips",
    "key as metric": HEAD + "1, 1, region FROM trips",
    "blob metric": HEAD + "1, 1, x'01' FROM trips",
    "infinite metric": HEAD + "1, 1, 9e999 FROM trips",
    "minus infinity": HEAD + "1, 1, -9e999 FROM trips",
    "too few columns": "SELECT region, privacy_time_unit, 1 FROM trips",
    "too many columns": HEAD + "1, 1, 1, 1 FROM trips",
    "integer overflow": HEAD + "1, 1, SUM(9223372036854775807) FROM trips",
    "not a query": "DELETE FROM trips",
    "other table": "SELECT 1, 1, 1, 1, 1, 1, 1 FROM assistant",
    "other column": HEAD + "1, 1, 1 FROM trips WHERE country = 'DE'",
    "event time": HEAD + "1, 1, event_time FROM trips",
    "denied function": HEAD + "1, 1, random() FROM trips",
    "endless": HEAD + "1, 1, 1 FROM trips, (WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL "
    "SELECT x + 1 FROM r) SELECT x FROM r)",
}


@pytest.mark.parametrize("name", BREAKS)
def test_whatever_breaks_the_contract_is_the_zero_update(catalog: Catalog, name: str) -> None:
    assert is_zero(ran(catalog, trip(), trip(), sql=BREAKS[name]))


def test_more_rows_than_cells_are_the_zero_update(catalog: Catalog) -> None:
    """Nine activities and NULL make ten rows; an eleventh cannot be honest."""
    sql = "SELECT activity, privacy_time_unit, 1, 0, 0 FROM trips"
    reads = {"trips": ("activity",)}
    ten = [trip() for _ in range(10)]
    assert not is_zero(ran(catalog, *ten, sql=sql, keys=("activity",), reads=reads))
    assert is_zero(ran(catalog, *ten, trip(), sql=sql, keys=("activity",), reads=reads))


@pytest.mark.parametrize("bad", [..., [1], {}, 2**70, b"1001", "\ud800"], ids=ascii)
def test_an_event_that_cannot_be_loaded_is_no_crash(catalog: Catalog, bad: object) -> None:
    broken = trip()._replace(values=(bad, "DE", "driving", "within", 1.0, 1.0))  # type: ignore[arg-type]
    assert is_zero(ran(catalog, broken))
    short = trip()._replace(values=("1001",))
    assert is_zero(ran(catalog, short))


def test_each_window_is_bounded_on_its_own(catalog: Catalog) -> None:
    prepared = PreparedTask(client_task(catalog, mechanism=JointClipping(clip=8.0)), catalog)
    later = [trip(after=timedelta(days=8)), trip(after=timedelta(days=9))]
    events = {"trips": [trip(), *later]}
    for window in (WEEK, WEEK.next()):
        part = prepared.execute(events, window)
        assert GRID - 10 < part.values.sum() <= GRID


def test_a_key_made_of_literals_is_ranked_by_its_own_values(catalog: Catalog) -> None:
    values = ("short", "long")
    length = Key(name="length", domain=Domain(values).sha256, count=2, values=values)
    sql = (
        "SELECT CASE WHEN distance_km < 5 THEN 'short' ELSE 'long' END, privacy_time_unit, "
        "COUNT(*), 0, 0 FROM trips GROUP BY 1, 2"
    )
    part = ran(catalog, trip(), sql=sql, keys=(length,))
    assert part.ranks.tolist() == [1]


def test_two_streams_can_be_read_together(catalog: Catalog) -> None:
    sql = (
        "SELECT privacy_time_unit, SUM(n), SUM(m), 0 FROM ("
        "SELECT privacy_time_unit, 1 AS n, 0 AS m FROM trips UNION ALL "
        "SELECT privacy_time_unit, 0, 1 FROM assistant) GROUP BY privacy_time_unit"
    )
    task = client_task(catalog, sql=sql, keys=(), reads={"trips": (), "assistant": ()})
    answer = Event(trip().time, 0, ("reply", "accepted", None, 120.0))
    part = execute(task, {"trips": [trip()], "assistant": [answer, answer]}, WEEK, catalog)
    assert part.values.tolist() == [[UNIT, 2 * UNIT, 0]]


def test_it_refuses_a_task_this_device_cannot_run(catalog: Catalog) -> None:
    with pytest.raises(Problem, match=r"trips\.event_time"):
        PreparedTask(
            client_task(catalog, reads={"trips": ("region", "event_time")}, keys=()), catalog
        )
    with pytest.raises(Problem, match="does not have the stream"):
        PreparedTask(client_task(catalog, streams={"trips": "0" * 64}), catalog)
    with pytest.raises(Problem, match="day window"):
        execute(client_task(catalog), {}, Window.parse("2026-11-09", Unit.DAY), catalog)
