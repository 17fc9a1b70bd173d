"""/fleet and its API: what operators see of devices, coarse, and of nobody in particular."""

import dataclasses
import re
from datetime import date, timedelta

import pytest
from django.test import Client

from aggregation.protocol.refusal import Reason
from portal.accounts.models import Scope
from portal.accounts.tokens import create_token
from portal.clock import civil_clock
from portal.collection import fleet_counts
from portal.collection.fleet import fleet
from portal.collection.fleet_counts import Span, Stage, TurnedAway, call, measure
from portal.collection.fleet_spans import Choice
from portal.collection.models import ActiveDevices
from portal.tasks.models import Population

# A Wednesday.
TODAY = date(2026, 11, 18)


@pytest.fixture
def seeded(db):
    """Two populations; on the last two days the same happened."""

    def seed(today: date = TODAY) -> None:
        for name, count in (("DE", 54_321), ("FR", 2_111)):
            population = Population.objects.create(name=name, created_at=civil_clock().now())
            ActiveDevices.objects.create(population=population, count=count)
        fleet_counts.add(
            (day, counter, population, count)
            for day in (today, today - timedelta(days=1))
            for counter, population, count in COUNTED
        )

    return seed


COUNTED = [
    (Stage.ACTIVE, "DE", 4_321),
    (Stage.CHECKED_IN, "DE", 43_210),
    (Stage.CHECKED_IN, "FR", 1_234),
    (Stage.ASSIGNED, "DE", 32_109),
    (TurnedAway.NO_SESSION, "DE", 2_109),
    (TurnedAway.NOT_OPEN, "FR", 999),
    (Stage.UPLOADED, "DE", 12_345),
    (Stage.UPLOADED, "", 17_655),
    (call("upload", "ok"), "", 30_000),
    (call("upload", "session_over"), "", 1_501),
    (call("status", "ok"), "", 999),
    (measure("up", "upload", 3), "", 90),
    (measure("up", "upload", 4), "", 10),
    (measure("down", "upload", 0), "", 100),
    (measure("ms", "upload", 1), "", 95),
    (measure("ms", "upload", 5), "", 5),
    (measure("up", "status", 0), "", 100),
    (fleet_counts.BYTES_UP, "", 100_000_000),
    (fleet_counts.BYTES_DOWN, "", 50_000_000),
    (fleet_counts.refused(Reason.DUPLICATE), "", 7_777),
    (fleet_counts.refused(Reason.CANNOT_OPEN), "", 12),
]


def look(span=Span.DAY, at=TODAY, population=""):
    return fleet(Choice.of(span, at=at, population=population, today=TODAY), today=TODAY)


def numbers(funnel):
    found = (funnel.active, funnel.checked_in, funnel.assigned, funnel.uploaded)
    return [str(quantity) for quantity in (*found, funnel.turned_away)]


def test_the_funnel_is_shown_by_day_and_by_population(seeded):
    seeded()
    found = look()
    assert numbers(found.chosen) == ["56,000", "44,000", "32,000", "30,000", "3,100"]
    # Whoever reported today was not active yesterday.
    assert numbers(found.series[1])[0] == "52,000"
    assert numbers(found.series[2]) == ["48,000", *["< 1000"] * 4]
    assert [row.whose for row in found.populations] == ["Every population", "DE", "FR", "all"]
    assert numbers(found.populations[1]) == ["54,000", "43,000", "32,000", "12,000", "2,100"]
    assert numbers(found.populations[2]) == ["2,100", "1,200", "< 1000", "< 1000", "< 1000"]


def test_a_week_has_its_days(seeded):
    seeded()
    found = look(Span.WEEK, population="DE")
    assert found.chosen.when == "2026-W47"
    assert numbers(found.chosen) == ["54,000", "86,000", "64,000", "25,000", "4,200"]
    assert found.chosen.choice.query == "?by=week&population=DE"
    assert len(found.series) == 12


def test_what_ended_on_the_way_is_shown_by_reason(seeded):
    seeded()
    found = look()
    assert [str(one.count) for one in found.turned_away] == ["< 1000", "2,100"]
    assert [(o.call, o.code, str(o.count)) for o in found.refused_calls] == [
        ("upload", "session_over", "1,500")
    ]
    assert [(o.why, str(o.count)) for o in found.refused_updates] == [("Duplicate", "7,800")]


def test_calls_have_percentiles_once_there_are_enough(seeded):
    seeded()
    by_name = {one.name: one for one in look().calls.each}
    upload = by_name["upload"]
    assert (upload.up, upload.down) == (("≤ 2 kB", "≤ 4 kB"), ("≤ 250 B", "≤ 250 B"))
    assert upload.time == ("≤ 2 ms", "≤ 2 ms")
    assert by_name["status"].words == ()
    assert look().calls.kilobytes_per_upload == "5.0 kB"


def test_no_exact_count_is_in_it(seeded):
    """Whatever is added to the page later: no count that was stored is."""
    seeded()
    text = repr(dataclasses.asdict(look())).replace(",", "")
    for exact in {count for _, _, count in COUNTED if count > 999} | {54_321, 2_111, 56_432}:
        if exact % 1000:
            assert not re.search(rf"(?<![0-9]){exact}(?![0-9])", text)


def test_the_page_says_what_to_do_where_there_is_nothing(signed_in, valkey):
    page = signed_in("operator").get("/fleet").content.decode()
    assert "No device has reported yet" in page
    assert "manage.py fleet" in page


def test_the_page_works(seeded, signed_in, valkey):
    seeded(civil_clock().now().date())
    operator = signed_in("operator")
    page = operator.get("/fleet?population=DE").content.decode()
    assert "Check-ins, not devices" in page
    assert "for tasks of this population alone" in page
    assert "No window has been released yet." in page
    for exact in ("54321", "54,321", "43,210", "12,345"):
        assert exact not in page
    assert 'aria-current="page">By week' in operator.get("/fleet?by=week").content.decode()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("by=hour", "hour is not one of the available choices."),
        ("at=soon", "Enter a valid date."),
        ("at=1999-01-01", "The counts of that time are not shown here."),
        ("population=nowhere", "There is no population of this name."),
    ],
)
def test_what_makes_no_sense_is_said(seeded, signed_in, valkey, asked, says):
    seeded(civil_clock().now().date())
    operator = signed_in("operator")
    answer = operator.get(f"/fleet?{asked}")
    assert answer.status_code == 400
    assert says in answer.content.decode()
    answer = operator.get(f"/api/v1/fleet?{asked}")
    assert answer.status_code == 400
    assert says in answer.content.decode()


@pytest.mark.parametrize("address", ["/fleet", "/fleet/live"])
def test_it_is_for_operators(signed_in, valkey, address):
    assert Client().get(address).status_code == 302
    assert signed_in("analyst", "reviewer").get(address).status_code == 403
    operator = signed_in("operator")
    assert operator.post(address).status_code == 405
    assert operator.get(address).status_code == 200


def test_the_api_says_what_the_page_does(seeded, person, clock):
    seeded(civil_clock().now().date())
    operator = person("operator")

    def asked(*scopes):
        made = create_token(
            owner=operator, name=str(scopes), scopes=scopes, lifetime_days=30, clock=clock
        )
        return Client().get("/api/v1/fleet", headers={"Authorization": f"Bearer {made.secret}"})

    assert asked(Scope.READ).status_code == 403
    found = asked(Scope.OPERATE).json()
    assert found["populations"][1] == {
        "start": found["start"], "population": "DE", "active": 54_000, "checked_in": 43_000,
        "assigned": 32_000, "turned_away": 2_100, "uploaded": 12_000,
    }  # fmt: skip
    assert found["bytes_per_upload"] == 5_000
    assert (len(found["series"]), found["span"], found["reach"]) == (14, "day", [])
