from datetime import UTC, datetime

import pytest
from django.test import Client

from portal.accounts.models import LoginFailure, Person
from portal.accounts.passwords import require_password
from portal.accounts.services import change_password, give_starting_password
from portal.accounts.sign_in import NAME_LIMIT
from portal.audit.models import Entry
from portal.problems import Conflict
from tests.portal.accounts.conftest import PASSWORD, bearer

pytestmark = pytest.mark.django_db
NEW = "four quite random words"
MD5 = "django.contrib.auth.hashers.MD5PasswordHasher"


def _change(client, *, old=PASSWORD, new=NEW, again=None):
    fields = {"old_password": old, "new_password1": new, "new_password2": again or new}
    return client.post("/account/password", fields)


@pytest.fixture
def newcomer(person):
    ada = person("analyst", username="ada")
    ada.must_change_password = True
    ada.save()
    return ada


def test_it_works(person, signed_in):
    ada = person(username="ada")
    client = signed_in(who=ada)
    assert _change(client)["Location"] == "/account"
    assert client.get("/account").status_code == 200  # this session goes on
    ada.refresh_from_db()
    assert ada.check_password(NEW)


def test_the_other_sessions_end(person, signed_in):
    ada = person(username="ada")
    here, elsewhere = signed_in(who=ada), signed_in(who=ada)
    _change(here)
    assert elsewhere.get("/account").status_code == 302


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"old": "wrong"}, "This is not your password."),
        ({"new": "short"}, "at least 12 characters"),
        ({"new": "password1234"}, "too common"),
        ({"new": "ada-lovelace"}, "too similar"),
        ({"again": "something else entirely"}, "match"),
        ({"new": PASSWORD}, "This is the password you have now"),
    ],
)
def test_it_refuses(person, signed_in, fields, sentence):
    answer = _change(signed_in(who=person(username="ada-lovelace")), **fields)
    assert answer.status_code == 200
    assert sentence in answer.content.decode()


def test_ones_own_name_is_no_password(person, signed_in):
    ada = person(username="ada")
    ada.full_name = "Augusta Ada King"
    ada.save()
    answer = _change(signed_in(who=ada), new="augusta-ada-king")
    assert "too similar to the full name" in answer.content.decode()


def test_the_old_password_cannot_be_guessed_from_a_borrowed_screen(person, signed_in):
    client = signed_in(who=person(username="ada"))
    for _ in range(NAME_LIMIT):
        _change(client, old="guess")
    assert "too many failed sign-ins" in _change(client).content.decode()


def test_a_starting_password_is_not_replaced_by_who_knew_the_one_before(person, clock):
    """In a request that had asked for that a moment earlier."""
    ada, omar = person(username="ada"), person("operator", username="omar")
    before = Person.objects.get(pk=ada.pk)
    given = give_starting_password(person=ada, actor=omar, clock=clock)
    with pytest.raises(Conflict, match="password was changed just now"):
        change_password(person=before, password=NEW, clock=clock)
    ada.refresh_from_db()
    assert ada.check_password(given.password)
    assert ada.must_change_password
    assert not Entry.objects.filter(action="password.changed").exists()


def test_a_wrong_guess_is_on_record_like_a_refused_sign_in(person, signed_in):
    ada = person(username="ada")
    _change(signed_in(who=ada), old="s3cret-typed-wrong")
    entry = Entry.objects.get()
    assert (entry.action, entry.actor) == ("sign_in.refused", "system")
    assert (entry.object_type, entry.object_id) == ("person", str(ada.pk))
    assert entry.changes == [{"field": "reason", "from": None, "to": "wrong password"}]
    assert "s3cret" not in str(entry.content())


def test_guesses_fill_the_log_no_faster_than_sign_ins_do(person, signed_in, sign_in):
    client = signed_in(who=person(username="ada"))
    for _ in range(NAME_LIMIT + 3):
        _change(client, old="guess")
    assert sign_in("ada").status_code == 429
    assert Entry.objects.filter(action="sign_in.refused").count() == NAME_LIMIT


def test_the_right_password_takes_back_the_failures(person, signed_in):
    client = signed_in(who=person(username="ada"))
    for _ in range(NAME_LIMIT - 1):
        _change(client, old="guess")
    _change(client)
    assert not LoginFailure.objects.exists()
    assert Entry.objects.latest("seq").action == "password.changed"


def test_asking_once_more_does_not_end_the_session_it_asks(person, clock, settings):
    """Where the hash is older than the settings, a sign-in renews it, and this does not."""
    ada = person(username="ada")
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher", MD5]
    require_password(ada, PASSWORD, clock=clock, now=datetime.now(UTC))
    before = ada.password
    ada.refresh_from_db()
    assert ada.password == before


def test_no_password_and_no_hash_is_ever_on_record(person, signed_in):
    ada = person(username="ada")
    before = ada.password
    _change(signed_in(who=ada))
    ada.refresh_from_db()
    log = str([entry.content() for entry in Entry.objects.all()])
    assert "password.changed" in log
    for secret in (PASSWORD, NEW, before, ada.password):
        assert secret not in log


def test_a_password_that_someone_else_chose_must_go_first(newcomer, signed_in):
    client = signed_in(who=newcomer)
    for address in ("/", "/account", "/account/tokens", "/api", "/people", "/audit"):
        answer = client.get(address)
        assert (answer.status_code, answer["Location"]) == (302, "/account/password"), address
    assert "Choose your password" in client.get("/account/password").content.decode()
    _change(client)
    assert client.get("/account").status_code == 200


def test_the_way_out_and_health_stay_open(newcomer, signed_in):
    client = signed_in(who=newcomer)
    assert client.get("/health").status_code in (200, 503)
    assert client.post("/logout")["Location"] == "/login"


def test_writing_is_refused_as_well(newcomer, signed_in):
    fields = {"name": "t", "scopes": ["read"], "lifetime_days": 30, "password": PASSWORD}
    assert signed_in(who=newcomer).post("/account/tokens", fields).status_code == 302
    assert not newcomer.tokens.exists()


def test_the_api_says_so(newcomer, signed_in):
    answer = signed_in(who=newcomer).get("/api/v1/me")
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "password_change_needed"


def test_parts_of_pages_are_sent_to_the_whole_one(newcomer, signed_in):
    answer = signed_in(who=newcomer).get("/account", headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == "/account/password"


def test_tokens_wait_too(person, token):
    ada = person(username="ada")
    made = token(ada)
    Person.objects.update(must_change_password=True)
    answer = Client().get("/api/v1/me", headers=bearer(made.secret))
    assert answer.status_code == 401
    assert "choose a password" in answer.json()["error"]["message"]


def test_changing_it_from_another_site_is_refused(person):
    client = Client(enforce_csrf_checks=True)
    client.force_login(person(username="ada"))
    assert _change(client).status_code == 403
