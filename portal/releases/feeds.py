"""Atom: who follows a task hears of its releases, without an account where they are public."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from portal.releases.citing import citation
from portal.releases.finding import find_releases
from portal.releases.models import Release
from portal.releases.signing import read_card
from portal.releases.visiting import guests_welcome

# Older ones are on the pages.
_NEWEST = 50


@require_safe
@guests_welcome
def release_feed(request: HttpRequest, task: str) -> HttpResponseBase:
    found = find_releases(request.user, task, newest=_NEWEST)
    feed = Atom1Feed(
        title=f"Releases of {task}",
        link=_absolute(reverse("latest_release", args=[task])),
        feed_url=_absolute(reverse("release_feed", args=[task])),
        description="One noised answer per window, with its guarantee.",
        language="en",
        author_name="Mayfly",
    )
    for release in reversed(found):
        _add(feed, release)
    return HttpResponse(
        feed.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8"
    )


def _add(feed: Atom1Feed, release: Release) -> None:
    card, window = read_card(release.card), release.window.as_window()
    address = _absolute(reverse("release", args=[card.task, card.window]))
    feed.add_item(
        title=f"{card.task} {window.label}",
        link=address,
        unique_id=address,
        pubdate=release.released_at,
        updateddate=release.released_at,
        description=f"Numbers with their intervals, ε = {card.epsilon} per device and "
        f"{card.window_unit}. {citation(release)}",
    )


def _absolute(path: str) -> str:
    return f"{settings.PUBLIC_URL}{path}"
