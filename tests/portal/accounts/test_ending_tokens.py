"""A person's tokens end with the password they were made under, and with the account."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from threading import Barrier

import pytest
from django.test import Client

from portal.accounts.models import ApiToken, Person
from portal.accounts.services import (
    change_password,
    deactivate_person,
    give_starting_password,
    reactivate_person,
)
from portal.accounts.tokens import create_token, revoke_token
from portal.audit.models import Entry
from portal.problems import Conflict
from tests.portal.accounts.conftest import PASSWORD, bearer

NEW = "four quite random words"


@pytest.fixture
def ada(person):
    return person("analyst", username="ada")


@pytest.fixture
def omar(person):
    return person("operator", username="omar")


def _works(made):
    return Client().get("/api/v1/me", headers=bearer(made.secret)).status_code == 200


def _change(client, old=PASSWORD):
    fields = {"old_password": old, "new_password1": NEW, "new_password2": NEW}
    return client.post("/account/password", fields, follow=True).content.decode()


def _log():
    entries = Entry.objects.order_by("seq").exclude(action="token.created")
    return list(entries.values_list("action", "actor"))


@pytest.mark.django_db
def test_it_works(ada, token, signed_in):
    made = [token(ada, name=name) for name in ("one", "two")]
    assert "Your other sessions and your API tokens have ended." in _change(signed_in(who=ada))
    assert not any(_works(each) for each in made)
    assert _log() == [("token.revoked", "ada")] * 2 + [("password.changed", "ada")]


@pytest.mark.django_db
def test_a_new_starting_password_ends_them(ada, omar, token, signed_in):
    made = token(ada)
    signed_in(who=omar).post(f"/people/{ada.pk}/password", {"password": PASSWORD})
    Person.objects.filter(pk=ada.pk).update(must_change_password=False)
    assert not _works(made)
    assert _log() == [("token.revoked", "omar"), ("password.reset", "omar")]


@pytest.mark.django_db
def test_deactivating_ends_them_and_reactivating_does_not_bring_them_back(
    ada, omar, token, signed_in
):
    made, operator = token(ada), signed_in(who=omar)
    operator.post(f"/people/{ada.pk}/deactivate")
    operator.post(f"/people/{ada.pk}/reactivate", {"password": PASSWORD})
    Person.objects.filter(pk=ada.pk).update(must_change_password=False)
    assert not _works(made)
    assert _log() == [
        ("token.revoked", "omar"),
        ("person.deactivated", "omar"),
        ("password.reset", "omar"),
        ("person.reactivated", "omar"),
    ]


@pytest.mark.django_db
def test_none_comes_back_that_an_account_had_when_it_ended(ada, omar, token, clock):
    """Whoever wrote that it had ended: what an older version did, or a hand in the database."""
    made = token(ada)
    Person.objects.filter(pk=ada.pk).update(is_active=False)
    reactivate_person(person=ada, actor=omar, clock=clock)
    Person.objects.filter(pk=ada.pk).update(must_change_password=False)
    assert not _works(made)


@pytest.mark.django_db
def test_other_peoples_tokens_go_on(ada, omar, person, token, clock):
    made = [token(omar), token(person("consumer"))]
    change_password(person=ada, password=NEW, clock=clock)
    give_starting_password(person=ada, actor=omar, clock=clock)
    deactivate_person(person=ada, actor=omar, clock=clock)
    assert all(_works(each) for each in made)


@pytest.mark.django_db
def test_a_change_that_is_refused_ends_nothing(ada, omar, token, signed_in):
    made, own = token(ada), token(omar)
    assert "This is not your password." in _change(signed_in(who=ada), old="guess")
    operator = signed_in(who=omar)
    for action in ("deactivate", "password", "reactivate"):
        operator.post(f"/people/{omar.pk}/{action}", {"password": PASSWORD})
    assert _works(made)
    assert _works(own)


@pytest.mark.django_db
def test_what_had_ended_before_ends_once(ada, token, clock):
    over, revoked = token(ada, name="over").token, token(ada, name="revoked").token
    _expire(over)
    revoke_token(token=revoked, actor=ada, clock=clock)
    assert change_password(person=ada, password=NEW, clock=clock)
    assert not change_password(person=ada, password=PASSWORD, clock=clock)
    assert set(ApiToken.objects.values_list("state", flat=True)) == {"revoked"}
    assert [action for action, _ in _log()].count("token.revoked") == 2


@pytest.mark.django_db
def test_the_pages_say_so_before_it_happens(ada, omar, token, signed_in):
    def told():
        own = signed_in(who=ada).get("/account/password").content.decode()
        return own + signed_in(who=omar).get(f"/people/{ada.pk}").content.decode()

    _expire(token(ada, name="over").token)
    assert "API token" not in told().partition("<h1>")[2].replace("API tokens</a>", "")
    token(ada, name="one")
    page = told()
    assert "Your API token ends, too." in page
    assert "ends all their sessions and their API token." in page
    assert "and their API token ends for good." in page
    token(ada, name="two")
    page = told()
    assert "Your 2 API tokens end, too." in page
    assert "ends all their sessions and their 2 API tokens." in page
    assert "and their 2 API tokens end for good." in page


@pytest.mark.django_db
def test_none_is_made_by_who_knew_the_old_password(ada, omar, token, clock):
    """As they were read before: by a request that began a moment earlier."""
    before = Person.objects.get(pk=ada.pk)
    change_password(person=ada, password=NEW, clock=clock)
    with pytest.raises(Conflict, match="password was changed just now"):
        token(before)
    before = Person.objects.get(pk=ada.pk)
    deactivate_person(person=ada, actor=omar, clock=clock)
    with pytest.raises(Conflict):
        token(before)
    assert not ApiToken.objects.exists()


@pytest.mark.databases
def test_whoever_comes_first_none_is_left_and_nobody_waits_for_ever(own_database, clock):
    """The password changes while one token is revoked and another one made."""
    made = {"scopes": ["read"], "lifetime_days": 30, "clock": clock}
    for number in range(5):
        ada = Person.objects.create_user(f"ada{number}", password="x")
        old = [create_token(owner=ada, name=name, **made).token for name in ("one", "two")]
        deeds = [
            lambda owner: change_password(person=owner, password=NEW, clock=clock),
            lambda owner, late=old[1]: revoke_token(token=late, actor=owner, clock=clock),
            lambda owner: create_token(owner=owner, name="late", **made),
        ]
        _all_at_once(deeds, ada, own_database)
        assert set(ada.tokens.values_list("state", flat=True)) == {"revoked"}


def _all_at_once(deeds, person, own_database):
    together = Barrier(len(deeds))

    def work(deed):
        with own_database():
            owner = Person.objects.get(pk=person.pk)
            together.wait(timeout=30)
            with suppress(Conflict):
                deed(owner)

    with ThreadPoolExecutor(len(deeds)) as pool:
        list(pool.map(work, deeds))


def _expire(token):
    began = token.created_at - timedelta(days=100)
    over = began + timedelta(days=30)
    ApiToken.objects.filter(pk=token.pk).update(created_at=began, expires_at=over)
