"""The two timelines of a task's page, as the paper draws them."""

from datetime import UTC, datetime, timedelta

import pytest

from portal.tasks.timeline import LEFT, WIDTH, timeline

pytestmark = pytest.mark.django_db
FIRST = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture
def rows(active):
    return list(active(grace=24).windows.order_by("start"))


def test_the_server_takes_over_where_the_phones_end(rows):
    drawn = timeline(rows, FIRST + timedelta(days=3))
    for phone, server in zip(drawn.on_devices, drawn.on_server, strict=True):
        assert server.x == pytest.approx(phone.x + phone.width + 2, abs=0.2)
        assert server.width == pytest.approx(phone.width / 7, abs=2)
    assert [strip.label for strip in drawn.on_devices][:2] == ["2026-W48", "2026-W49"]
    assert drawn.on_devices[0].x < drawn.now < drawn.on_devices[1].x


def test_everything_lies_in_the_drawing(rows):
    drawn = timeline(rows, FIRST)
    for strip in (*drawn.on_devices, *drawn.on_server):
        assert strip.x >= LEFT
        assert strip.x + strip.width <= WIDTH


def test_now_is_drawn_before_the_first_window_unless_it_is_far_away(rows):
    drawn = timeline(rows, FIRST - timedelta(days=6))
    assert drawn.now == LEFT
    assert drawn.on_devices[0].x > drawn.now
    far = timeline(rows, FIRST - timedelta(days=8))
    assert far.now is None
    assert far.on_devices[0].x == LEFT + 1


def test_nothing_is_drawn_of_nothing():
    assert timeline([], FIRST) is None


def test_the_legend_says_what_is_drawn(rows):
    assert timeline(rows, FIRST).keys == [("neutral", "planned")]
    rows[0].state, rows[1].state = "released", "collecting"
    said = [words for _, words in timeline(rows, FIRST).keys]
    assert said == ["released", "under way", "planned"]


def test_windows_to_come_of_a_paused_task_look_different(rows):
    rows[0].state = "skipped"
    drawn = timeline(rows, FIRST, is_paused=True)
    assert [strip.colour for strip in drawn.on_devices][:2] == ["warning", "paused"]
    assert [colour for colour, _ in drawn.keys] == ["warning", "paused"]
