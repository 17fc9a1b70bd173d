"""A session ends when it should, for whoever holds its cookie."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from tests.portal.accounts.conftest import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(person):
    return person("analyst", username="ada")


def signed_in(**more):
    client = Client(**more)
    assert client.post("/login", {"username": "ada", "password": PASSWORD}).status_code == 302
    return client


def thief_of(client):
    thief = Client()
    thief.cookies["sessionid"] = client.cookies["sessionid"].value
    return thief


def test_signing_out_ends_the_session_for_a_copied_cookie_too(ada):
    client = signed_in()
    thief = thief_of(client)
    assert thief.get("/account").status_code == 200
    client.post("/logout")
    assert thief.get("/account").status_code == 302
    assert thief.get("/api/v1/me").status_code == 401
    assert not Session.objects.exists()


def test_signing_out_here_leaves_the_session_there(ada):
    here, there = signed_in(), signed_in()
    here.post("/logout")
    assert there.get("/account").status_code == 200


def test_every_sign_in_has_a_session_of_its_own(ada):
    names = {signed_in().cookies["sessionid"].value for _ in range(3)}
    assert len(names) == 3
    assert all(len(name) >= 32 for name in names)


def test_a_session_is_over_after_its_time(ada):
    client = signed_in()
    Session.objects.update(expire_date="2026-01-01T00:00:00Z")
    assert client.get("/account").status_code == 302


@pytest.mark.parametrize("way", ["the password", "the demo's menu"])
def test_nothing_that_is_done_in_a_session_makes_it_last_longer(ada, person, way):
    """A message to its person is kept in the session, which is stored anew with it; and so is one
    whose password is changed."""
    person("analyst", username="analyst")
    client = signed_in() if way == "the password" else Client()
    if way != "the password":
        client.post("/switch-role", {"role": "analyst"})
    end = Session.objects.get().expire_date
    profile = {"email": "new@example.org", "password": PASSWORD}
    assert client.post("/account", profile).status_code == 302
    assert Session.objects.get().expire_date == end
    new = "quite another horse battery"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post("/account/password", form).status_code == 302
    assert Session.objects.get().expire_date == end


def test_a_made_up_session_is_nobodys_and_is_not_taken_on(ada):
    client = Client()
    client.cookies["sessionid"] = "a" * 32
    assert client.get("/account").status_code == 302
    client.post("/login", {"username": "ada", "password": PASSWORD})
    assert client.cookies["sessionid"].value != "a" * 32


def test_changing_the_password_ends_the_other_sessions_and_renews_this_one(ada):
    here, there = signed_in(), signed_in()
    before = here.cookies["sessionid"].value
    new = "quite another horse battery"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post("/account/password", form).status_code == 302
    assert here.cookies["sessionid"].value != before
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 302
