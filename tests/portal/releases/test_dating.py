"""Dates of windows: nobody need count weeks."""

from datetime import UTC, datetime

import pytest

from aggregation.protocol.windows import Unit, Window
from portal.releases.dating import dated, first_day
from portal.releases.templatetags.release_words import dates


@pytest.mark.parametrize(
    ("start", "unit", "told"),
    [
        ("2026-11-30", Unit.WEEK, "week of 30 Nov – 6 Dec 2026"),
        ("2026-11-16", Unit.WEEK, "week of 16 – 22 Nov 2026"),
        ("2026-12-28", Unit.WEEK, "week of 28 Dec 2026 – 3 Jan 2027"),
        ("2026-11-18", Unit.DAY, "18 Nov 2026"),
        ("2026-11-01", Unit.MONTH, "November 2026"),
        ("2026-11-18T09:00", Unit.HOUR, "18 Nov 2026, 09:00 UTC"),
    ],
)
def test_a_window_has_the_dates_of_its_days(start: str, unit: Unit, told: str) -> None:
    window = Window.containing(datetime.fromisoformat(start).replace(tzinfo=UTC), unit)
    assert dated(window) == told
    assert dates(window) == told


def test_a_tile_says_when_a_week_begins() -> None:
    monday = datetime(2026, 11, 30, tzinfo=UTC)
    assert first_day(Window.containing(monday, Unit.WEEK)) == "30 Nov"
    assert first_day(Window.containing(monday, Unit.DAY)) == ""
    new_year = Window.containing(datetime(2026, 1, 1, tzinfo=UTC), Unit.WEEK)
    assert (new_year.label, first_day(new_year)) == ("2026-W01", "29 Dec 2025")
