import re

import pytest
from django.test import Client

from portal.accounts.models import LoginFailure
from portal.audit.models import Entry
from tests.portal.accounts.conftest import PASSWORD

pytestmark = pytest.mark.django_db


def test_it_works(person, sign_in):
    ada = person("analyst", username="ada")
    answer = sign_in("ada")
    assert answer.status_code == 302
    assert answer["Location"] == "/"
    assert answer.browser.session["_auth_user_id"] == str(ada.pk)


def test_the_page_shows_a_form_and_is_not_cached():
    answer = Client().get("/login")
    assert b'name="username"' in answer.content
    assert "no-store" in answer["Cache-Control"]


def test_the_case_and_spaces_of_the_name_do_not_matter(person, sign_in):
    person(username="ada")
    assert sign_in(" ADA ").status_code == 302


def test_the_session_key_changes_so_that_a_planted_one_is_worthless(person):
    person(username="ada")
    client = Client()
    planted = client.session
    planted["planted"] = "yes"
    planted.save()
    client.cookies["sessionid"] = planted.session_key
    client.post("/login", {"username": "ada", "password": PASSWORD})
    assert client.cookies["sessionid"].value != planted.session_key
    thief = Client()
    thief.cookies["sessionid"] = planted.session_key
    assert thief.get("/account").status_code == 302


def test_it_goes_where_one_wanted_to_go(person, sign_in):
    person(username="ada")
    assert sign_in("ada", next="/account/tokens")["Location"] == "/account/tokens"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example/",
        r"/\evil.example",
        "http:///evil.example",
        "javascript:alert(1)",
        "https:evil.example",
        "\thttps://evil.example",
    ],
)
def test_it_never_leads_to_another_site(person, sign_in, elsewhere):
    person(username="ada")
    assert sign_in("ada", next=elsewhere)["Location"] == "/"


def test_an_unknown_name_and_a_wrong_password_look_the_same(person, sign_in):
    person(username="ada")
    wrong, unknown = sign_in("ada", "wrong"), sign_in("eve", "wrong")
    assert wrong.status_code == unknown.status_code == 200
    assert _plain(wrong).replace("ada", "eve") == _plain(unknown)


def test_a_deactivated_person_looks_like_an_unknown_one(person, sign_in):
    gone = person(username="ada")
    gone.is_active = False
    gone.save()
    assert _plain(sign_in("ada")).replace("ada", "eve") == _plain(sign_in("eve"))


def test_every_refusal_costs_exactly_one_password_hash(person, sign_in, settings, monkeypatch):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    gone, _ = person(username="gone"), person(username="ada")
    gone.is_active = False
    gone.save()
    hashed = _count_hashes(monkeypatch)
    costs = []
    for name, password in (("ada", "wrong"), ("gone", PASSWORD), ("gone", "wrong"), ("eve", "x")):
        before = len(hashed)
        sign_in(name, password)
        costs.append(len(hashed) - before)
    assert costs == [1, 1, 1, 1]


def test_signing_in_is_on_record(person, sign_in):
    person(username="ada")
    sign_in("ada")
    entry = Entry.objects.get(action="sign_in.accepted")
    assert (entry.actor, entry.object_label) == ("ada", "ada")


def test_a_refusal_is_on_record_without_the_password(person, sign_in):
    ada = person(username="ada")
    sign_in("ada", "s3cret-typed-wrong")
    entry = Entry.objects.get(action="sign_in.refused")
    assert (entry.object_type, entry.object_id, entry.actor) == ("person", str(ada.pk), "system")
    assert "s3cret" not in str(entry.content())


def test_a_name_that_nobody_has_is_not_on_record(sign_in):
    sign_in("my-password-by-mistake", "x")
    entry = Entry.objects.get(action="sign_in.refused")
    assert "by-mistake" not in str(entry.content())
    assert entry.object_label == "a name nobody has"
    assert "by-mistake" not in str(LoginFailure.objects.values())


def test_signing_out_takes_a_post(person, signed_in):
    client = signed_in(who=person(username="ada"))
    assert client.get("/logout").status_code == 405
    assert client.get("/account").status_code == 200
    assert client.post("/logout")["Location"] == "/login"
    assert client.get("/account")["Location"] == "/login?next=/account"


def test_signing_in_and_out_from_another_site_is_refused(person):
    person(username="ada")
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/login", {"username": "ada", "password": PASSWORD}).status_code == 403
    assert strict.post("/logout").status_code == 403


def test_who_is_signed_in_is_sent_on(person, signed_in):
    assert signed_in(who=person(username="ada")).get("/login")["Location"] == "/"


def _plain(answer):
    """The page without what differs on every page: its anti-forgery tokens."""
    return re.sub(r"[A-Za-z0-9]{64}", "", answer.content.decode())


def _count_hashes(monkeypatch):
    """Count how often the password hasher of the settings really works."""
    from django.contrib.auth.hashers import get_hasher

    kind, made = type(get_hasher()), []
    original = kind.encode

    def encode(self, password, *args, **kwargs):
        made.append(1)
        return original(self, password, *args, **kwargs)

    monkeypatch.setattr(kind, "encode", encode)
    return made
