import pytest
from django.test import Client

from portal.audit.models import Entry

pytestmark = pytest.mark.django_db


def test_it_works(person, signed_in):
    ada = person("analyst", username="ada")
    client = signed_in(who=ada)
    fields = {"full_name": "Ada Lovelace", "email": "ada@example.com"}
    assert client.post("/account", fields)["Location"] == "/account"
    ada.refresh_from_db()
    assert (ada.full_name, ada.email, ada.wants_email) == ("Ada Lovelace", "ada@example.com", False)


def test_guests_are_asked_to_sign_in():
    for address in ("/account", "/account/password", "/account/tokens", "/people", "/api"):
        assert Client().get(address)["Location"] == f"/login?next={address}"


def test_the_log_names_the_fields_and_not_what_is_in_them(person, signed_in):
    ada = person(username="ada")
    fields = {"full_name": "", "email": "new@example.com", "wants_email": "on"}
    signed_in(who=ada).post("/account", fields)
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
