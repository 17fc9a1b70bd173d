import pytest
from django.test import Client

from portal.accounts.models import Person
from portal.accounts.services import change_password, change_profile
from portal.accounts.sign_in import NAME_LIMIT
from portal.audit.models import Entry
from portal.problems import Conflict
from tests.portal.accounts.conftest import PASSWORD

pytestmark = pytest.mark.django_db


def test_it_works(person, signed_in):
    ada = person("analyst", username="ada")
    client = signed_in(who=ada)
    fields = {"full_name": "Ada Lovelace", "email": "ada@example.com", "password": PASSWORD}
    assert client.post("/account", fields)["Location"] == "/account"
    ada.refresh_from_db()
    assert (ada.full_name, ada.email, ada.wants_email) == ("Ada Lovelace", "ada@example.com", False)


def test_where_no_email_is_sent_it_says_so(signed_in, settings):
    said = "No mail server is set here, so none are sent."
    client = signed_in("analyst")
    assert said not in client.get("/account").content.decode()
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    assert said in client.get("/account").content.decode()


def test_guests_are_asked_to_sign_in():
    for address in ("/account", "/account/password", "/account/tokens", "/people", "/api"):
        assert Client().get(address)["Location"] == f"/login?next={address}"


def test_the_log_names_the_fields_and_not_what_is_in_them(person, signed_in):
    ada = person(username="ada")
    fields = {"full_name": "", "email": "new@example.com", "wants_email": "on"}
    signed_in(who=ada).post("/account", {**fields, "password": PASSWORD})
    entry = Entry.objects.get(action="person.changed")
    assert entry.changes == [{"field": "fields", "from": None, "to": "email"}]
    assert "example" not in str(entry.content())


def test_nothing_changed_is_nothing_on_record(person, signed_in):
    ada = person(username="ada")
    signed_in(who=ada).post("/account", {"email": ada.email, "wants_email": "on"})
    assert not Entry.objects.filter(action="person.changed").exists()


def test_a_wrong_address_is_named(person, signed_in):
    answer = signed_in(who=person()).post("/account", {"email": "not an address"})
    assert "Enter a valid email address." in answer.content.decode()


def test_it_changes_nothing_else(person, signed_in):
    ada = person(username="ada")
    fields = {"username": "operator", "is_active": "", "must_change_password": "on", "role": "x"}
    signed_in(who=ada).post("/account", fields)
    ada.refresh_from_db()
    assert (ada.username, ada.is_active, ada.must_change_password) == ("ada", True, False)


@pytest.mark.parametrize(
    ("typed", "told"),
    [("", "This needs your password: e-mails warn of"), ("wrong", "This is not your password.")],
)
def test_a_stolen_session_is_not_enough_to_have_somebodys_mail(person, signed_in, typed, told):
    ada = person(username="ada")
    before = ada.email
    for changed in ({"email": "thief@example.com", "wants_email": "on"}, {"email": before}):
        fields = {"full_name": "Ada", **changed, "password": typed}
        answer = signed_in(who=ada).post("/account", fields)
        assert told in answer.content.decode()
        ada.refresh_from_db()
        assert (ada.full_name, ada.email, ada.wants_email) == ("", before, True)


def test_guesses_there_count_like_failed_sign_ins(person, signed_in):
    ada = person(username="ada")
    client = signed_in(who=ada)
    fields = {"email": "thief@example.com", "password": "guess"}
    for _ in range(NAME_LIMIT + 1):
        client.post("/account", fields)
    page = client.post("/account", {**fields, "password": PASSWORD}).content.decode()
    assert "too many failed sign-ins" in page


def test_all_else_needs_no_password_and_changes_none(person, signed_in):
    ada = person(username="ada")
    Person.objects.filter(pk=ada.pk).update(wants_email=False)
    fields = {"full_name": "Ada", "email": ada.email, "wants_email": "on", "password": "whatever"}
    assert signed_in(who=ada).post("/account", fields).status_code == 302
    assert Entry.objects.get().changes[0]["to"] == "full_name, wants_email"
    before = ada.password
    ada.refresh_from_db()
    assert (ada.full_name, ada.password) == ("Ada", before)


def test_nor_is_a_password_that_is_another_one_meanwhile(person, clock):
    ada = person(username="ada")
    before = Person.objects.get(pk=ada.pk)
    change_password(person=ada, password="four quite random words", clock=clock)
    before.email = "thief@example.com"
    with pytest.raises(Conflict):
        change_profile(person=before, changed=["email"], clock=clock)
    assert Person.objects.get(pk=ada.pk).email == ada.email
