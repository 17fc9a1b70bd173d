"""Who is told of a release: its task's people and followers, as long as they may see it."""

import pytest

from portal.accounts.models import Grant, Person, Role
from portal.clock import civil_clock
from portal.notifications.models import Delivery, Notification
from portal.releases import telling
from portal.releases.models import Follower, Release
from portal.releases.selectors import releases_for, who_may_see
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

OCCASIONS = {
    "released": lambda release: telling.released(release, clock=civil_clock()),
    "held back": lambda release: telling.held_back(release.window, clock=civil_clock()),
}


@pytest.fixture
def release(released, settings) -> Release:
    """Nobody sees it without a role."""
    settings.PUBLIC_RELEASES = False
    return Release.objects.order_by("pk").last()


@pytest.fixture
def author(release) -> Person:
    return release.window.task.created_by


def _told(occasion: str, release: Release) -> set[str]:
    Delivery.objects.all().delete()
    Notification.objects.all().delete()
    OCCASIONS[occasion](release)
    told = set(Notification.objects.values_list("recipient__username", flat=True))
    mailed = Delivery.objects.filter(channel="email")
    assert set(mailed.values_list("notification__recipient__username", flat=True)) <= told
    return told


@pytest.mark.parametrize("occasion", OCCASIONS)
def test_it_works(release, author, occasion) -> None:
    assert author.username in _told(occasion, release)


@pytest.mark.parametrize("occasion", OCCASIONS)
def test_an_author_who_has_lost_every_role_is_not_told(release, author, occasion) -> None:
    Grant.objects.filter(person=author).delete()
    assert author.username not in _told(occasion, release)


@pytest.mark.parametrize("occasion", OCCASIONS)
def test_an_author_who_is_deactivated_is_not_told(release, author, occasion) -> None:
    Person.objects.filter(pk=author.pk).update(is_active=False)
    assert author.username not in _told(occasion, release)


def test_a_consumer_sees_releases_and_no_tasks(release, author) -> None:
    Grant.objects.filter(person=author).update(role=Role.CONSUMER)
    assert author.username in _told("released", release)
    assert author.username not in _told("held back", release)


def test_a_follower_who_has_left_is_not_told(release, person) -> None:
    rita = person("consumer", username="rita")
    Follower.objects.create(task=release.window.task, person=rita)
    assert "rita" in _told("released", release)
    Person.objects.filter(pk=rita.pk).update(is_active=False)
    assert "rita" not in _told("released", release)


@pytest.mark.parametrize("public", [True, False])
def test_who_is_told_is_who_may_see_it(release, person, settings, public) -> None:
    """The same rule from both sides: a release's people, and a person's releases."""
    settings.PUBLIC_RELEASES = public
    people = [person(), person(*Role.values), *(person(role) for role in Role.values)]
    for somebody in people:
        for shown in Release.objects.all():
            seen = releases_for(somebody).filter(pk=shown.pk).exists()
            assert who_may_see(shown).filter(pk=somebody.pk).exists() == seen
