"""The home page: what needs doing now, for each role; what Mayfly is, for everyone."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from aggregation.protocol.streams import Catalog
from portal.accounts.models import ApiToken, Person, Role
from portal.audit.models import Verification
from portal.audit.verification import verify_log
from portal.pages.cards import cards_for
from portal.pages.home import Viewer
from portal.pages.todos import todos_for
from portal.valkey import queue_client

SignedIn = Callable[..., Client]
MakePerson = Callable[..., Person]


@pytest.fixture(autouse=True)
def installed(settings: Any, tmp_path: Path, catalog: Catalog) -> None:
    settings.DATA = tmp_path
    catalog.write(tmp_path / "streams")


def titles(person: Person) -> list[str]:
    return [card.title for card in cards_for(viewer(person))]


def viewer(person: Person) -> Viewer:
    return Viewer(Person.objects.get(pk=person.pk), datetime.now(UTC))


def test_it_tells_guests_what_mayfly_is_and_where_to_sign_in(db: None, client: Client) -> None:
    text = client.get("/").content.decode()
    assert "each phone answers for itself" in text
    assert 'href="/login"' in text


def test_it_gives_guests_the_four_demo_people_one_click_away(db: None, client: Client) -> None:
    text = client.get("/").content.decode()
    for role in Role:
        assert f'name="role" value="{role.value}"' in text


def test_it_offers_no_demo_people_outside_the_demo(db: None, client: Client, settings: Any) -> None:
    settings.DEMO = False
    assert 'name="role"' not in client.get("/").content.decode()


@pytest.mark.parametrize("role", Role)
def test_it_works_for_every_role(signed_in: SignedIn, role: Role) -> None:
    text = signed_in(role).get("/").content.decode()
    assert f"You are signed in as {role.value}." in text
    assert "What needs you now" in text


def test_it_names_all_roles_of_someone_with_several(signed_in: SignedIn) -> None:
    text = signed_in("analyst", "reviewer", "operator").get("/").content.decode()
    assert "You are signed in as analyst, reviewer and operator." in text


def test_everyone_sees_the_streams_with_their_figures(person: MakePerson) -> None:
    cards = {card.title: card for card in cards_for(viewer(person("consumer")))}
    figures = {figure.label: figure.value for figure in cards["Trips"].figures}
    assert figures["columns"] == "7", "what events record; stamped columns are not counted"
    assert figures["values of region"] == "12"
    assert figures["on the phone"] == "30 days"


def test_operators_see_more_than_analysts(person: MakePerson) -> None:
    assert titles(person("analyst")) == ["Releases", "Assistant", "Trips", "API tokens"]
    assert {"Health", "Audit log", "People", "Outbox"} <= set(titles(person("operator")))
    assert "Audit log" in titles(person("reviewer"))


def test_someone_without_a_role_is_told_how_to_get_one(person: MakePerson) -> None:
    assert [todo.title for todo in todos_for(viewer(person()))] == ["You have no role yet"]


def test_an_operator_is_told_of_people_without_a_role(person: MakePerson) -> None:
    person(username="newcomer")
    todos = {todo.title: todo for todo in todos_for(viewer(person("operator")))}
    assert "newcomer" in todos["1 person has no role"].detail


@pytest.fixture
def no_valkey(settings: Any, tmp_path: Path) -> Iterator[None]:
    """An address where nobody listens, whatever other tests have started."""
    settings.QUEUE_URL = f"unix://{tmp_path}/nobody.sock"
    queue_client.cache_clear()
    yield
    queue_client.cache_clear()


def test_an_operator_is_told_which_parts_are_not_well(person: MakePerson, no_valkey: None) -> None:
    unwell = [todo for todo in todos_for(viewer(person("operator"))) if todo.icon == "health"]
    assert len(unwell) == 1
    assert unwell[0].title == "Not well: Broker and queues, Session worker and 2 more"


def test_an_operator_is_told_that_no_streams_are_installed(
    person: MakePerson, settings: Any, tmp_path: Path
) -> None:
    settings.DATA = tmp_path / "empty"
    todos = todos_for(viewer(person("operator")))
    assert any("install_streams" in todo.detail for todo in todos)
    assert "Trips" not in titles(person("analyst"))


def test_a_broken_audit_log_is_shown_to_reviewers_and_operators_only(person: MakePerson) -> None:
    verify_log(whole=True)
    Verification.objects.update(problem="Entry 7 has been changed since it was written.")
    for role, told in (("reviewer", True), ("operator", True), ("analyst", False)):
        found = [todo.title for todo in todos_for(viewer(person(role)))]
        assert ("The audit log is broken" in found) is told


def test_a_database_that_has_forgotten_something_is_the_operator_s_first_line(
    person: MakePerson, forget: Callable[[], None]
) -> None:
    title = "Nothing is collected or released"
    assert title not in [todo.title for todo in todos_for(viewer(person("operator")))]
    forget()
    first, *_ = todos_for(viewer(person("operator")))
    assert (first.title, first.tone) == (title, "bad")
    assert "accept_restore" in first.detail
    assert title not in [todo.title for todo in todos_for(viewer(person("analyst")))]


def test_a_token_about_to_expire_is_named_and_a_distant_one_is_not(person: MakePerson) -> None:
    owner = person("analyst")
    now = datetime.now(UTC)
    for name, days in (("nightly-report", 3), ("yearly-report", 300), ("old-report", -3)):
        ApiToken.objects.create(
            owner=owner,
            name=name,
            prefix=name[:8],
            sha256=name,
            created_at=now - timedelta(days=30),
            expires_at=now + timedelta(days=days),
        )
    shown = [todo.title for todo in todos_for(viewer(owner)) if todo.icon == "key"]
    assert shown == ["The token nightly-report expires in 2 days"]
