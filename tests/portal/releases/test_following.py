"""Following a task: told of its releases, as long as one may see them."""

import pytest
from django.test import Client

from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.notifications.models import Notification
from portal.releases import telling
from portal.releases.models import Follower, Release
from tests.portal.releases.browsing.conftest import (
    client,
    collecting,
    few,
    kept,
    keys,
    parts,
    released,
    streams,
)

__all__ = ["client", "collecting", "few", "kept", "keys", "parts", "released", "streams"]

TASK = "trips-by-region"
LIST = f"/releases?task={TASK}"
FOLLOW = f"/releases/{TASK}/follow"


@pytest.fixture
def reader(released) -> Person:
    return Person.objects.create_user("rita", "rita@example.org", "a long password")


@pytest.fixture
def browser(reader) -> Client:
    found = Client()
    found.force_login(reader)
    return found


def _told(person: Person) -> int:
    release = Release.objects.order_by("pk").last()
    before = Notification.objects.filter(recipient=person).count()
    telling.released(release, clock=civil_clock())
    return Notification.objects.filter(recipient=person).count() - before


def test_it_works(browser, reader) -> None:
    assert b"Tell me of new ones" in browser.get(LIST).content
    assert _told(reader) == 0
    page = browser.post(FOLLOW, {"on": "1"}, follow=True)
    assert f"You will be told when a release of {TASK} is out.".encode() in page.content
    assert b"Tell me no longer" in page.content
    assert _told(reader) == 1
    browser.post(FOLLOW, {"on": "1"})
    assert Follower.objects.count() == 1
    browser.post(FOLLOW)
    assert _told(reader) == 0


def test_a_release_leads_to_the_button(browser, reader) -> None:
    window = Release.objects.order_by("pk").last().window.window
    page = browser.get(f"/releases/{TASK}/{window}").content.decode()
    assert f'<a href="{LIST}">follow the task</a>' in page


def test_programs_can_follow(browser, reader) -> None:
    at = f"/api/v1/releases/{TASK}/following"
    assert browser.get(at).json() == {"task": TASK, "following": False}
    assert browser.put(at).json() == {"task": TASK, "following": True}
    assert _told(reader) == 1
    assert browser.delete(at).json() == {"task": TASK, "following": False}
    assert browser.put("/api/v1/releases/no-such-task/following").status_code == 404


def test_nobody_is_told_of_what_they_may_not_see(browser, reader, settings) -> None:
    browser.post(FOLLOW, {"on": "1"})
    settings.PUBLIC_RELEASES = False
    assert _told(reader) == 0
    assert browser.post("/releases/no-such-task/follow", {"on": "1"}).status_code == 404


def test_guests_have_the_feed(released) -> None:
    guest = Client()
    assert f"/releases/{TASK}/feed.atom".encode() in guest.get(LIST).content
    assert guest.post(FOLLOW, {"on": "1"})["Location"].startswith("/login")
