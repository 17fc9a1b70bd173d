"""What the home page says about now: the next release, the latest one, and the devices."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.test import Client

from aggregation.clock import SimulatedClock
from aggregation.pace import CALM, QUICK
from portal.collection.models import ActiveDevices
from portal.pages.moments import countdown
from portal.pages.now import _seconds
from portal.tasks.models import Population, Task
from tests.portal.collection.collecting import someone
from tests.portal.collection.conftest import collecting, first_database, keys, parts, streams

__all__ = ["collecting", "first_database", "keys", "parts", "streams"]

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


def test_devices_are_counted_in_two_digits(signed_in: Callable[..., Client]) -> None:
    for name, count in (("XA", 15_432), ("XB", 14_001), ("XC", 0)):
        population = Population.objects.create(name=name, created_at=MONDAY)
        ActiveDevices.objects.create(population=population, count=count)
    text = " ".join(signed_in("consumer").get("/now").content.decode().split())
    assert "29,000</dd> <dd>in 2 populations" in text
    assert "No task is running." in text


def test_a_first_device_is_not_told(signed_in: Callable[..., Client]) -> None:
    """Nor the first of a population: as few as one would be told exactly."""
    person, said = signed_in("consumer"), []
    for name, count in (("XA", 0), ("XB", 1), ("XC", 999)):
        population = Population.objects.create(name=name, created_at=MONDAY)
        ActiveDevices.objects.create(population=population, count=count)
        text = " ".join(person.get("/now").content.decode().split())
        said.append(text.partition("<dt>Devices</dt>")[2])
    assert said[0] == said[1]
    assert "population" not in said[0]
    assert "1,000</dd> <dd class" in said[2]


@pytest.mark.parametrize(("role", "is_link"), [("analyst", True), ("consumer", False)])
@pytest.mark.usefixtures("collecting")
def test_a_task_is_a_link_for_who_may_open_it(role: str, is_link: bool) -> None:
    person = Client()
    person.force_login(someone("zoe", role))
    text = person.get("/now").content.decode()
    name = Task.objects.get().name
    assert name in text
    assert (f'href="/tasks/{name}"' in text) == is_link
    assert (person.get(f"/tasks/{name}").status_code == 200) == is_link


@pytest.mark.usefixtures("collecting")
def test_who_has_no_role_is_not_told_of_windows_whose_release_they_may_not_see() -> None:
    person = Client()
    person.force_login(someone("zoe"))
    for address in ("/now", "/"):
        text = person.get(address).content.decode()
        assert Task.objects.get().name not in text
        assert "None that is public." in text


def test_guests_are_told_nothing(db: None, client: Client) -> None:
    assert client.get("/now").status_code == 403
    assert "data-now" not in client.get("/").content.decode()


@pytest.mark.parametrize(
    ("speed", "seconds"),
    [(QUICK.speed(MONDAY.timestamp()), 30), (CALM.speed(MONDAY.timestamp()), 300), (86_400, 1)],
)
def test_it_knows_when_a_simulated_moment_comes(tmp_path: Path, speed: float, seconds: int) -> None:
    clock = SimulatedClock(tmp_path / "clock.json", machine=lambda: 0.0)
    clock.start(MONDAY, speed=speed)
    assert _seconds(clock, MONDAY, MONDAY.replace(day=17)) == seconds
    clock.set_speed(0)
    assert _seconds(clock, MONDAY, MONDAY.replace(day=17)) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (7, "in 0:07"),
        (62, "in 1:02"),
        (3599, "in 59:59"),
        (3600, "in 1 hour"),
        (86_400 * 3, "in 3 days"),
    ],
)
def test_a_countdown_can_be_seen_to_run(seconds: int, words: str) -> None:
    assert countdown(seconds) == words
