"""The frame around every page: who is here, where one can go, what is new."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client, RequestFactory

from portal.accounts.models import Role
from portal.pages import navigation
from portal.pages.context import frame
from portal.streams.geography import Source, most_populous_places
from portal.streams.services import install_streams

SignedIn = Callable[..., Client]


@pytest.fixture(scope="session")
def small_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("small-world")
    source = Source.holding(most_populous_places(200))
    install_streams(folder=data / "streams", tell=lambda sentence: None, source=source)
    return data


def labels(*roles: Role) -> list[str]:
    return [entry.label for group in navigation.groups_for(roles) for entry in group.entries]


def test_the_navigation_shows_what_the_roles_allow() -> None:
    assert labels(Role.ANALYST) == [
        "Home", "Tasks", "Review", "Releases", "Places", "Emissions", "Streams", "Ledger",
        "Lab", "Health", "Docs", "API",
    ]  # fmt: skip
    assert labels(Role.CONSUMER) == [
        "Home",
        "Releases",
        "Places",
        "Emissions",
        "Streams",
        "Health",
        "Docs",
        "API",
    ]
    assert "Audit log" in labels(Role.REVIEWER)
    assert "People" not in labels(Role.REVIEWER)
    assert labels(Role.OPERATOR) == [
        "Home", "Tasks", "Review", "Releases", "Places", "Emissions", "Streams", "Ledger",
        "Lab", "Overview", "Fleet", "Sessions",
        "Audit log", "People", "Health", "Docs", "API",
    ]  # fmt: skip


def test_guests_see_only_what_is_public(settings: Any) -> None:
    def shown() -> list[str]:
        return [e.label for group in navigation.groups_for_guests() for e in group.entries]

    assert shown() == ["Home", "Releases", "Places", "Emissions", "Health", "Docs"]
    settings.PUBLIC_RELEASES = False
    assert shown() == ["Home", "Health", "Docs"]


@pytest.mark.parametrize("role", Role)
def test_every_entry_leads_to_a_page_that_the_role_may_see(
    signed_in: SignedIn, role: Role, settings: Any, small_world: Path
) -> None:
    settings.DATA = small_world
    client = signed_in(role)
    for group in navigation.groups_for([role]):
        for entry in group.entries:
            assert client.get(entry.url).status_code == 200, entry.label


def test_it_shows_where_one_is(signed_in: SignedIn) -> None:
    text = signed_in("analyst").get("/health").content.decode()
    assert '<a href="/health" aria-current="page">' in text
    assert '<a href="/streams">' in text


def test_it_is_drawn_for_a_request_that_met_no_middleware() -> None:
    shown = frame(RequestFactory().get("/"))
    assert shown["person"] is None
    assert shown["theme"] == "system"


def test_messages_are_shown_once(signed_in: SignedIn) -> None:
    client = signed_in("analyst")
    who = client.get("/account").context["person"]
    client.post("/account", {"full_name": "Ada", "email": who.email, "wants_email": "on"})
    assert "Your profile is saved." in client.get("/account").content.decode()
    assert "Your profile is saved." not in client.get("/account").content.decode()


def test_the_switch_of_roles_is_only_in_the_demo(signed_in: SignedIn, settings: Any) -> None:
    client = signed_in("analyst")
    assert "Switch role" in client.get("/").content.decode()
    settings.DEMO = False
    assert "Switch role" not in client.get("/").content.decode()


def test_a_page_asks_the_database_for_the_frame_only_a_few_times(
    signed_in: SignedIn, django_assert_max_num_queries: Any
) -> None:
    client = signed_in("analyst")
    # session, person, roles, unread
    with django_assert_max_num_queries(4):
        client.get("/no-such-page")


def test_third_party_files_come_out_of_their_packages() -> None:
    found = finders.find("vendor/htmx.min.js")
    assert str(found).endswith("htmx-2.min.js")
    assert finders.find("vendor/htmx.min.js", find_all=True)[0] == found
    assert finders.find("vendor/unknown.js") is None
    assert staticfiles_storage.url("vendor/htmx.min.js").startswith("/static/vendor/htmx.min.")
