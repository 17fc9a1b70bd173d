"""What the frame around every page shows: who is here, where one can go, what is new.

Nothing here may fail: error pages and /health are drawn with it while the database is down, and
then show the frame that guests see.
"""

from typing import Any

from django.conf import settings
from django.contrib.messages import get_messages
from django.contrib.messages.storage.base import Message
from django.db import Error as DatabaseTrouble
from django.http import HttpRequest

from portal.accounts.models import Person, Role
from portal.notifications.selectors import unread_count
from portal.pages import navigation

THEMES = ("system", "light", "dark")


def frame(request: HttpRequest) -> dict[str, Any]:
    try:
        person = _person(request)
        shown = _for_person(person) if person else for_guests()
    except DatabaseTrouble:
        return {**for_guests(), "theme": theme(request)}
    # A function: reading the messages empties them, so only a whole page may do it.
    return {**shown, "theme": theme(request), "notices": lambda: _notices(request)}


def theme(request: HttpRequest) -> str:
    chosen = request.COOKIES.get("theme", "")
    return chosen if chosen in THEMES else "system"


def for_guests() -> dict[str, Any]:
    return {
        "demo": settings.DEMO,
        "version": settings.VERSION,
        "person": None,
        "roles": [],
        "nav": navigation.groups_for_guests(),
        "public_releases": settings.PUBLIC_RELEASES,
        "unread": 0,
    }


def _for_person(person: Person) -> dict[str, Any]:
    roles = [role for role in Role if role in person.roles()]
    return {
        **for_guests(),
        "person": person,
        "roles": roles,
        "all_roles": list(Role),
        "nav": navigation.groups_for(roles),
        "unread": unread_count(person),
    }


def _person(request: HttpRequest) -> Person | None:
    # A request that failed early has not met the middleware that knows its user.
    user = getattr(request, "user", None)
    return user if isinstance(user, Person) else None


def _notices(request: HttpRequest) -> list[Message]:
    return list(get_messages(request))
