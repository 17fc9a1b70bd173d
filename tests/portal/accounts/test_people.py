import re

import pytest
from django.test import Client

from portal.accounts.models import Person, Role
from portal.accounts.sign_in import NAME_LIMIT
from portal.audit.models import Entry
from tests.portal.accounts.conftest import PASSWORD, bearer

pytestmark = pytest.mark.django_db
OWN = {"password": PASSWORD}
ADA = {"username": "ada", "full_name": "Ada Lovelace", "email": "ada@example.com", **OWN}


@pytest.fixture
def operator(signed_in):
    return signed_in("operator")


def test_it_works(operator, sign_in):
    answer = operator.post("/people/add", {**ADA, "roles": ["analyst", "consumer"]})
    given = answer.context["given"]
    assert given.password in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"
    ada = Person.objects.get(username="ada")
    assert ada.roles() == {Role.ANALYST, Role.CONSUMER}
    assert ada.must_change_password
    assert sign_in("ada", given.password).browser.get("/")["Location"] == "/account/password"


def test_the_starting_password_is_shown_once(operator):
    answer = operator.post("/people/add", ADA)
    secret = answer.context["given"].password
    assert secret not in str(dict(operator.session.items()))
    assert secret not in operator.get("/people").content.decode()
    assert secret not in str([entry.content() for entry in Entry.objects.all()])
    assert secret not in repr(answer.context["given"])


@pytest.mark.parametrize("roles", [[], ["analyst"], ["reviewer"], ["consumer"]])
@pytest.mark.parametrize("address", ["/people", "/people/add", "/people/1"])
def test_it_is_for_operators(signed_in, roles, address):
    client = signed_in(*roles)
    assert client.get(address).status_code == 403
    assert client.post(address, ADA).status_code == 403


@pytest.mark.parametrize("action", ["deactivate", "reactivate", "password"])
def test_what_changes_people_is_for_operators_and_takes_a_post(person, signed_in, action):
    ada = person(username="ada")
    before = ada.password
    assert signed_in("analyst").post(f"/people/{ada.pk}/{action}").status_code == 403
    ada.refresh_from_db()
    assert (ada.is_active, ada.password) == (True, before)


@pytest.mark.parametrize("action", ["reactivate", "password"])
def test_a_page_of_a_refused_form_can_be_loaded_again_and_its_other_form_is_its_own(
    person, operator, action
):
    """What is posted there lets somebody in; roles are saved at the person's own address."""
    ada = person(username="ada")
    Person.objects.filter(pk=ada.pk).update(is_active=action == "password")
    address = f"/people/{ada.pk}/{action}"
    page = operator.post(address, {"password": "wrong"}).content.decode()
    assert set(re.findall(r'<form class="form" method="post" action="([^"]*)"', page)) == {
        f"/people/{ada.pk}"
    }
    assert operator.get(address)["Location"] == f"/people/{ada.pk}"


def test_the_list_shows_everyone(person, operator):
    person("analyst", "reviewer", username="ada")
    gone = person(username="bob")
    gone.is_active = False
    gone.save()
    page = operator.get("/people").content.decode()
    assert "ada" in page
    assert "Reviewer" in page
    assert "Deactivated" in page


def test_a_long_list_has_pages(operator):
    Person.objects.bulk_create(Person(username=f"p{n:03}") for n in range(150))
    assert "p149" not in operator.get("/people").content.decode()
    assert "p149" in operator.get("/people?page=2").content.decode()


def test_the_list_does_not_ask_for_each_person(person, operator, django_assert_max_num_queries):
    for _ in range(20):
        person("analyst", "reviewer")
    with django_assert_max_num_queries(8):
        operator.get("/people")


@pytest.mark.parametrize("username", ["ada", "ADA", "with space", "-dash", "ünï", "x" * 61, ""])
def test_a_username_is_plain_and_free(person, operator, username):
    person(username="ada")
    answer = operator.post("/people/add", {**ADA, "username": username})
    assert answer.status_code == 200
    assert "given" not in (answer.context or {})
    assert Person.objects.filter(full_name="Ada Lovelace").count() == 0


def test_roles_are_granted_and_withdrawn_on_record(person, signed_in):
    ada, omar = person("analyst", username="ada"), person("operator", username="omar")
    signed_in(who=omar).post(f"/people/{ada.pk}", {"roles": ["reviewer"], **OWN})
    assert Person.objects.get(pk=ada.pk).roles() == {Role.REVIEWER}
    granted, withdrawn = Entry.objects.filter(action__startswith="role.").order_by("seq")
    assert (granted.action, granted.changes[0]["to"], granted.actor) == (
        "role.granted",
        "reviewer",
        "omar",
    )
    assert (withdrawn.action, withdrawn.changes[0]["from"]) == ("role.withdrawn", "analyst")
    assert granted.object_label == "ada"


def test_a_page_that_is_open_for_long_brings_no_role_back(person, signed_in):
    """Which another operator has withdrawn since: it is still ticked there."""
    ada = person("analyst", "reviewer", username="ada")
    omar, olga = signed_in(who=person("operator")), signed_in(who=person("operator"))

    def seen(operator):
        page = operator.get(f"/people/{ada.pk}")
        assert 'type="hidden" name="seen"' in page.content.decode()
        return {"seen": page.context["form"]["seen"].value()}

    older = seen(omar)
    olga.post(f"/people/{ada.pk}", {"roles": ["analyst"], **OWN, **seen(olga)})
    more = {"roles": ["analyst", "reviewer", "consumer"], **OWN, **older}
    answer = omar.post(f"/people/{ada.pk}", more, follow=True)
    assert "were changed meanwhile" in answer.content.decode()
    assert Person.objects.get(pk=ada.pk).roles() == {Role.ANALYST}
    omar.post(f"/people/{ada.pk}", {"roles": ["consumer"], **OWN, **seen(omar)})
    assert Person.objects.get(pk=ada.pk).roles() == {Role.CONSUMER}
    omar.post(f"/people/{ada.pk}", {"roles": [], **OWN, **seen(omar)})
    olga.post(f"/people/{ada.pk}", {"roles": ["analyst"], **OWN, **seen(olga)})
    assert Person.objects.get(pk=ada.pk).roles() == {Role.ANALYST}


def test_a_role_counts_from_the_next_click_on(person, operator, signed_in):
    ada = person(username="ada")
    client = signed_in(who=ada)
    assert client.get("/audit").status_code == 403
    operator.post(f"/people/{ada.pk}", {"roles": ["reviewer"], **OWN})
    assert client.get("/audit").status_code == 200


def test_the_last_operator_cannot_step_down(person, signed_in):
    omar = person("operator", "analyst", username="omar")
    answer = signed_in(who=omar).post(f"/people/{omar.pk}", {"roles": ["analyst"], **OWN})
    assert "this is the last operator" in answer.content.decode()
    assert Person.objects.get(pk=omar.pk).has_role(Role.OPERATOR)
    assert not Entry.objects.filter(action="role.withdrawn").exists()


def test_a_deactivated_operator_does_not_count_as_one(person, signed_in):
    gone, omar = person("operator"), person("operator")
    gone.is_active = False
    gone.save()
    signed_in(who=omar).post(f"/people/{omar.pk}", {"roles": [], **OWN})
    assert Person.objects.get(pk=omar.pk).has_role(Role.OPERATOR)


def test_an_operator_among_others_can_step_down(person, signed_in):
    person("operator")
    omar = person("operator")
    client = signed_in(who=omar)
    assert client.post(f"/people/{omar.pk}", {"roles": [], **OWN})["Location"] == "/"
    assert client.get("/people").status_code == 403


def test_deactivating_ends_sessions_and_tokens(person, operator, signed_in, token):
    ada = person("analyst", username="ada")
    client, made = signed_in(who=ada), token(ada)
    operator.post(f"/people/{ada.pk}/deactivate")
    assert client.get("/account").status_code == 302
    assert Client().get("/api/v1/me", headers=bearer(made.secret)).status_code == 401


def test_who_is_let_in_again_brings_no_session_along(person, operator, signed_in, sign_in):
    """It may be why the account had to end."""
    ada = person("analyst", username="ada")
    client = signed_in(who=ada)
    operator.post(f"/people/{ada.pk}/deactivate")
    answer = operator.post(f"/people/{ada.pk}/reactivate", OWN)
    assert answer["Cache-Control"] == "no-store"
    assert client.get("/account").status_code == 302
    assert sign_in("ada").status_code == 200  # the old password is wrong now
    assert sign_in("ada", answer.context["given"].password).status_code == 302
    actions = list(Entry.objects.order_by("seq").values_list("action", flat=True))
    assert actions[:3] == ["person.deactivated", "password.reset", "person.reactivated"]


def test_doing_it_twice_is_on_record_once(person, operator):
    ada = person(username="ada")
    for action, done in (("deactivate", "deactivated"), ("reactivate", "reactivated")):
        for _ in range(2):
            answer = operator.post(f"/people/{ada.pk}/{action}", OWN, follow=True)
        assert Entry.objects.filter(action=f"person.{done}").count() == 1
    assert "ada can come in already." in answer.content.decode()


@pytest.mark.parametrize("way", ["add", "roles", "password", "reactivate"])
@pytest.mark.parametrize("typed", [{}, {"password": ""}, {"password": "s3cret-typed-wrong"}])
def test_a_stolen_session_is_not_enough_to_let_others_in(person, signed_in, way, typed):
    """It ends within hours. What it made would not."""
    ada, omar = person("analyst", username="ada"), person("operator", username="omar")
    Person.objects.filter(pk=ada.pk).update(is_active=way != "reactivate")
    before = Person.objects.filter(pk=ada.pk).values().get()
    address = {"add": "/people/add", "roles": f"/people/{ada.pk}"}
    form = {"username": "new", "roles": ["operator"], **typed}
    answer = signed_in(who=omar).post(address.get(way, f"/people/{ada.pk}/{way}"), form)
    page = answer.content.decode()
    assert ("This is not your password" if typed.get("password") else "This field is") in page
    assert "s3cret" not in page
    assert "given" not in answer.context
    assert Person.objects.filter(pk=ada.pk).values().get() == before
    assert Person.objects.get(pk=ada.pk).roles() == {Role.ANALYST}
    assert Person.objects.count() == 2
    assert {entry.action for entry in Entry.objects.all()} <= {"sign_in.refused"}


def test_guesses_there_count_like_failed_sign_ins(person, signed_in):
    ada, omar = person("analyst", username="ada"), person("operator", username="omar")
    client = signed_in(who=omar)
    for _ in range(NAME_LIMIT + 1):
        client.post(f"/people/{ada.pk}/password", {"password": "guess"})
    page = client.post(f"/people/{ada.pk}/password", OWN).content.decode()
    assert "too many failed sign-ins" in page
    assert ada.password == Person.objects.get(pk=ada.pk).password


def test_nobody_deactivates_themselves(person, signed_in):
    person("operator")
    omar = person("operator")
    answer = signed_in(who=omar).post(f"/people/{omar.pk}/deactivate", follow=True)
    assert "You cannot deactivate yourself." in answer.content.decode()
    omar.refresh_from_db()
    assert omar.is_active


def test_a_new_starting_password_ends_sessions(person, operator, signed_in, sign_in):
    ada = person("analyst", username="ada")
    client = signed_in(who=ada)
    answer = operator.post(f"/people/{ada.pk}/password", OWN)
    assert client.get("/account").status_code == 302
    assert sign_in("ada").status_code == 200  # the old one is wrong now
    assert sign_in("ada", answer.context["given"].password).status_code == 302
    assert Entry.objects.filter(action="password.reset", object_id=str(ada.pk)).exists()


def test_changes_from_another_site_are_refused(person):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person("operator"))
    assert strict.post("/people/add", ADA).status_code == 403
    assert not Person.objects.filter(username="ada").exists()
