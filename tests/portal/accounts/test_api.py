import pytest
from django.test import Client

from portal.accounts.models import ApiToken
from tests.portal.accounts.conftest import bearer

pytestmark = pytest.mark.django_db


def test_me_in_a_browser(person, signed_in):
    ada = person("reviewer", "analyst", username="ada")
    assert signed_in(who=ada).get("/api/v1/me").json() == {
        "person": {
            "id": ada.pk,
            "username": "ada",
            "full_name": "",
            "email": "ada@example.org",
            "roles": ["analyst", "reviewer"],
        },
        "token": None,
    }


def test_ones_tokens_are_listed_without_secrets(person, signed_in, token):
    ada = person()
    made = token(ada)
    token(person(), name="of someone else")
    answer = signed_in(who=ada).get("/api/v1/tokens").json()
    assert answer["count"] == 1
    assert answer["results"][0]["name"] == "notebook"
    assert set(answer["results"][0]) == {
        "id", "name", "prefix", "scopes", "state", "created_at", "expires_at", "last_used_on",
    }  # fmt: skip
    assert made.token.sha256 not in str(answer)


def test_a_token_is_revoked_in_person(person, signed_in, token):
    ada = person()
    made = token(ada)
    client = signed_in(who=ada)
    for _ in range(2):
        answer = client.post(f"/api/v1/tokens/{made.token.pk}/revoke")
        assert (answer.status_code, answer.json()["state"]) == (200, "revoked")


@pytest.mark.parametrize(("method", "path"), [("get", "tokens"), ("post", "tokens/{}/revoke")])
def test_a_token_cannot_see_or_revoke_tokens(person, token, method, path):
    made = token(person("operator"), "read", "author", "operate")
    call = getattr(Client(), method)
    answer = call(f"/api/v1/{path.format(made.token.pk)}", headers=bearer(made.secret))
    assert answer.status_code == 403
    assert "A token cannot do this" in answer.json()["error"]["message"]
    assert ApiToken.objects.get().state == "active"


def test_a_token_cannot_make_tokens(person, token):
    made = token(person("operator"), "read", "author", "operate")
    answer = Client().post(
        "/api/v1/tokens", {"name": "x"}, "application/json", headers=bearer(made.secret)
    )
    assert answer.status_code in (403, 405)
    assert ApiToken.objects.count() == 1


def test_writing_with_a_session_needs_the_anti_forgery_token(person, token):
    ada = person()
    made = token(ada)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ada)
    answer = strict.post(f"/api/v1/tokens/{made.token.pk}/revoke")
    assert answer.status_code == 403
    assert answer.json()["error"]["message"].startswith("CSRF Failed")
    assert "X-CSRFToken" in answer.json()["error"]["hint"]
    made.token.refresh_from_db()
    assert made.token.state == "active"


def test_people_are_for_operators(person, signed_in, token):
    omar = person("operator", username="omar")
    answer = signed_in(who=omar).get("/api/v1/people").json()
    assert [p["username"] for p in answer["results"]] == ["omar"]
    assert "password" not in str(answer)
    assert signed_in("analyst").get("/api/v1/people").status_code == 403
    assert Client().get("/api/v1/people").status_code == 401
    made = token(omar, "operate")
    assert Client().get("/api/v1/people", headers=bearer(made.secret)).status_code == 200


def test_people_are_read_anew_each_time(person, signed_in):
    client = signed_in("operator")
    before = client.get("/api/v1/people").json()["count"]
    person("analyst")
    assert client.get("/api/v1/people").json()["count"] == before + 1


def test_the_list_of_people_does_not_ask_for_each(person, signed_in, django_assert_num_queries):
    client = signed_in("operator")
    for _ in range(20):
        person("analyst")
    with django_assert_num_queries(6):  # session, person, roles; count, people, their roles
        client.get("/api/v1/people")
