from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from aggregation.protocol.windows import Unit, Window

units = st.sampled_from(Unit)
zones = st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-11.5))])
# The last month of the calendar has no end that a datetime can hold.
moments = st.datetimes(datetime(1, 1, 3), datetime(9999, 10, 31), timezones=zones)  # noqa: DTZ001


@given(moments, units)
def test_every_moment_lies_in_exactly_one_window(moment: datetime, unit: Unit) -> None:
    window = Window.containing(moment, unit)
    assert moment in window
    assert moment not in window.next()
    if window.start > datetime(1, 2, 28, tzinfo=UTC):
        assert moment not in window.previous()


@given(moments, units)
def test_windows_tile_time_without_gaps(moment: datetime, unit: Unit) -> None:
    window = Window.containing(moment, unit)
    following = window.next()
    assert following.start == window.end
    assert following.previous() == window
    assert window < following


@given(moments, units)
def test_ids_round_trip(moment: datetime, unit: Unit) -> None:
    window = Window.containing(moment, unit)
    assert Window.parse(window.id, unit) == window
    assert str(window) == window.id


@given(moments, units, units)
def test_a_coarser_window_overlaps_what_lies_in_it(moment: datetime, a: Unit, b: Unit) -> None:
    one, other = Window.containing(moment, a), Window.containing(moment, b)
    assert one.start < other.end
    assert other.start < one.end


@given(moments)
def test_the_same_instant_has_one_window_in_every_zone(moment: datetime) -> None:
    elsewhere = moment.astimezone(timezone(timedelta(hours=9)))
    assert Window.containing(moment, Unit.DAY) == Window.containing(elsewhere, Unit.DAY)


@pytest.mark.parametrize(
    ("day", "label"),
    [
        ((2026, 11, 16), "2026-W47"),
        ((2026, 12, 31), "2026-W53"),  # a year of 53 weeks
        ((2027, 1, 3), "2026-W53"),
        ((2027, 1, 4), "2027-W01"),
        ((2024, 12, 30), "2025-W01"),  # already next year's first week
        ((2021, 1, 1), "2020-W53"),
        ((2023, 1, 1), "2022-W52"),
    ],
)
def test_week_labels_are_iso_weeks_at_year_ends(day: tuple[int, int, int], label: str) -> None:
    assert Window.containing(datetime(*day, 23, 59, tzinfo=UTC), Unit.WEEK).label == label


@given(moments)
def test_weeks_start_on_monday_and_months_on_the_first(moment: datetime) -> None:
    assert Window.containing(moment, Unit.WEEK).start.weekday() == 0
    assert Window.containing(moment, Unit.MONTH).start.day == 1


@pytest.mark.parametrize(
    ("month", "days"),
    [
        *(("2024-02-01", 29), ("2026-02-01", 28), ("2000-02-01", 29), ("2100-02-01", 28)),
        *(("2026-04-01", 30), ("2026-12-01", 31), ("2026-01-01", 31)),
    ],
)
def test_months_have_their_own_length_in_leap_years_too(month: str, days: int) -> None:
    window = Window.parse(month, Unit.MONTH)
    assert window.end - window.start == timedelta(days=days)
    assert window.label == month[:7]


def test_labels_of_hours_and_days_are_their_ids() -> None:
    moment = datetime(2026, 11, 9, 14, 30, tzinfo=UTC)
    assert Window.containing(moment, Unit.HOUR).label == "2026-11-09T14"
    assert Window.containing(moment, Unit.DAY).label == "2026-11-09"


@pytest.mark.parametrize(
    ("window_id", "unit"),
    [
        ("2026-11-10", Unit.WEEK),  # a Tuesday
        ("2026-11-09", Unit.MONTH),
        ("2026-11-09T14", Unit.DAY),
        ("2026-11-09", Unit.HOUR),
        ("2026-11-9", Unit.DAY),
        ("2026-02-29", Unit.DAY),
        ("2026-11-09T24", Unit.HOUR),
        (" 2026-11-09", Unit.DAY),
        ("2026-11-09\n", Unit.DAY),
        ("２０２６-11-09", Unit.DAY),
        ("2026-W46", Unit.WEEK),
        ("", Unit.DAY),
    ],
)
def test_parse_refuses_what_is_not_an_id(window_id: str, unit: Unit) -> None:
    with pytest.raises(Problem, match=f"is not the id of a {unit} window"):
        Window.parse(window_id, unit)


@given(st.text(max_size=20), units)
def test_parse_gives_a_window_with_that_id_or_a_problem(text: str, unit: Unit) -> None:
    try:
        given_id = Window.parse(text, unit).id
    except Problem:
        given_id = text
    assert given_id == text


def test_it_refuses_a_start_that_is_aligned_only_in_another_zone() -> None:
    local_midnight = datetime(2026, 11, 9, tzinfo=timezone(timedelta(hours=2)))
    with pytest.raises(Problem, match="No day window starts at"):
        Window(local_midnight, Unit.DAY)


def test_it_refuses_moments_without_a_zone() -> None:
    naive = datetime(2026, 11, 9)  # noqa: DTZ001
    with pytest.raises(Problem, match="has no time zone"):
        Window.containing(naive, Unit.DAY)
    with pytest.raises(Problem, match="No day window starts at"):
        Window(naive, Unit.DAY)


@pytest.mark.parametrize("unit", Unit)
def test_it_refuses_a_window_that_would_never_end(unit: Unit) -> None:
    with pytest.raises(Problem, match="ends after the year 9999"):
        Window.containing(datetime(9999, 12, 31, 23, 59, tzinfo=UTC), unit)
