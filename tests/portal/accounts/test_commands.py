import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from aggregation.errors import Problem
from portal.accounts.models import Person, Role
from portal.audit.models import Entry

pytestmark = pytest.mark.django_db


def test_add_person_prints_a_password_that_works(sign_in):
    out = StringIO()
    call_command("add_person", "omar", "--role", "operator", "--email", "o@example.com", stdout=out)
    password = re.search(r"shown only now: (\S+)", out.getvalue())[1]
    omar = Person.objects.get(username="omar")
    assert (omar.roles(), omar.email) == ({Role.OPERATOR}, "o@example.com")
    assert sign_in("omar", password).status_code == 302
    assert Entry.objects.filter(action="person.added", actor="system").exists()


def test_add_person_refuses_a_name_that_is_taken(person):
    person(username="omar")
    with pytest.raises(Problem, match="already"):
        call_command("add_person", "omar", "--role", "operator")


def test_add_person_knows_the_roles():
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("add_person", "omar", "--role", "superuser")


def test_demo_people_have_one_role_each_and_their_name_as_password(sign_in):
    call_command("make_demo_people")
    assert {p.username: p.roles() for p in Person.objects.all()} == {r.value: {r} for r in Role}
    assert sign_in("analyst", "analyst").status_code == 302
    assert sign_in("analyst", "analyst").browser.get("/account").status_code == 200


def test_making_them_twice_changes_nothing():
    call_command("make_demo_people")
    before = list(Person.objects.values()), Entry.objects.count()
    call_command("make_demo_people")
    assert (list(Person.objects.values()), Entry.objects.count()) == before


def test_demo_people_are_for_the_demo(settings):
    settings.DEMO = False
    with pytest.raises(Problem, match="not a demo"):
        call_command("make_demo_people")
    assert not Person.objects.exists()
