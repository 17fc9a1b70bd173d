import pytest
from django.core.management import call_command
from django.test import Client

from portal.audit.models import Entry

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _demo_people():
    call_command("make_demo_people")


def test_it_works():
    client = Client()
    assert client.post("/switch-role", {"role": "reviewer"})["Location"] == "/"
    assert client.get("/api/v1/me").json()["person"]["username"] == "reviewer"
    client.post("/switch-role", {"role": "analyst"})
    assert client.get("/api/v1/me").json()["person"]["username"] == "analyst"
    assert Entry.objects.filter(action="sign_in.accepted").count() == 2


def test_nothing_of_the_earlier_person_is_kept():
    client = Client()
    client.post("/switch-role", {"role": "reviewer"})
    before = client.session.session_key
    session = client.session
    session["draft"] = "of the reviewer"
    session.save()
    client.post("/switch-role", {"role": "analyst"})
    assert client.session.session_key != before
    assert "draft" not in client.session


def test_there_is_no_such_page_outside_the_demo(settings):
    settings.DEMO = False
    client = Client()
    assert client.post("/switch-role", {"role": "operator"}).status_code == 404
    assert "_auth_user_id" not in client.session
    assert b"switch-role" not in client.get("/login").content


@pytest.mark.parametrize("role", ["", "ada", "superuser"])
def test_it_knows_only_the_demo_people(person, role):
    person("operator", username="ada")
    assert Client().post("/switch-role", {"role": role}).status_code == 404


def test_it_takes_a_post_from_our_own_pages():
    assert Client().get("/switch-role").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/switch-role", {"role": "analyst"}).status_code == 403
