"""The ledger's page."""

import pytest
from django.conf import settings

from aggregation.protocol.windows import Unit, Window
from portal.ledger.services import reserve, spend


@pytest.fixture(autouse=True)
def streams(catalog):
    catalog.write(settings.DATA / "streams")


def content(answer):
    return " ".join(answer.content.decode().split())


def test_it_works(signed_in, clock, db):
    week = Window.parse("2026-11-23", Unit.WEEK)
    reserve(task="weekly", streams=["trips"], windows=[week], hundredths=150, clock=clock)
    reserve(task="other", streams=["trips"], windows=[week], hundredths=50, clock=clock)
    spend(task="other", windows=[week], clock=clock)
    answer = signed_in("analyst").get("/ledger?first=2026-11-25&weeks=2&stream=trips")
    page = content(answer)
    assert "2026-W48" in page
    assert "1.5 reserved" in page
    assert "0.5 spent" in page
    first, second = answer.context["streams"][0].weeks
    assert (first.left, second.left) == (200, 400)


def test_a_stream_that_nobody_is_charged_for_is_one_sentence(signed_in):
    page = content(signed_in("analyst").get("/ledger?stream=assistant"))
    assert "No task is charged in these weeks: all of 4 is left in each." in page
    assert "<table" not in page


def test_it_begins_with_what_was_spent_of_late_and_can_begin_with_this_week(signed_in, clock, db):
    client = signed_in("analyst")
    answer = client.get("/ledger?stream=trips")
    this = answer.context["this_monday"]
    weeks = [week.monday for week in answer.context["streams"][0].weeks]
    assert weeks.index(this) == 4
    assert "From this week" in content(answer)
    again = client.get(f"/ledger?stream=trips&first={this}")
    assert f'href="?stream=trips&amp;first={this}"' in content(answer)
    assert again.context["streams"][0].weeks[0].monday == this


def test_what_makes_no_sense_shows_the_usual_weeks(signed_in):
    answer = signed_in("analyst").get("/ledger?first=never&weeks=1000&stream=none")
    assert answer.status_code == 200
    assert [len(shown.weeks) for shown in answer.context["streams"]] == [12, 12]


@pytest.mark.parametrize("day", ["9998-01-02", "9999-06-01", "9999-12-31"])
def test_there_are_no_weeks_at_the_end_of_all_dates(signed_in, day):
    client = signed_in("analyst")
    answer = client.get(f"/ledger?first={day}&weeks=53")
    assert answer.status_code == 200
    assert "Give a day up to 9998-01-01." in content(answer)
    answer = client.get(f"/api/v1/ledger?first={day}&weeks=53")
    assert answer.status_code == 400
    assert client.get("/ledger?first=9998-01-01&weeks=53").status_code == 200
    assert client.get("/ledger?first=0001-01-01&weeks=53").status_code == 200


def test_every_week_is_two_queries(signed_in, django_assert_max_num_queries):
    client = signed_in("analyst")
    with django_assert_max_num_queries(10):
        client.get("/ledger?weeks=53")
