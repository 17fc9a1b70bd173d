from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from portal.accounts.models import ApiToken
from portal.accounts.tokens import revoke_token
from tests.portal.accounts.conftest import bearer

pytestmark = pytest.mark.django_db


def test_it_works(person, token):
    ada = person("analyst", username="ada")
    made = token(ada, "read")
    answer = Client().get("/api/v1/me", headers=bearer(made.secret)).json()
    assert answer["person"]["username"] == "ada"
    assert answer["person"]["roles"] == ["analyst"]
    assert answer["token"]["prefix"] == made.token.prefix
    assert made.secret not in str(answer)


def _refused(secret):
    answer = Client().get("/api/v1/me", headers=bearer(secret))
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Bearer realm="mayfly"'
    error = answer.json()["error"]
    assert error["code"] == "authentication_failed"
    return error["message"]


@pytest.mark.parametrize("secret", ["mfly_unknown", "", "mfly_", "ünïcode", "a b c"])
def test_an_unknown_token_is_refused(db, secret):
    assert _refused(secret.encode().decode("latin-1")) == "The token is not one of ours."


def test_a_revoked_token_is_refused(person, token, clock):
    ada = person()
    made = token(ada)
    revoke_token(token=made.token, actor=ada, clock=clock)
    assert _refused(made.secret) == "The token has been revoked."


def test_an_expired_token_is_refused(person, token):
    made = token(person())
    long_ago = datetime(2026, 1, 1, tzinfo=UTC)
    ApiToken.objects.update(created_at=long_ago, expires_at=long_ago + timedelta(days=30))
    assert _refused(made.secret) == "The token expired on 2026-01-31."


def test_the_token_of_a_deactivated_person_is_refused(person, token):
    ada = person()
    made = token(ada)
    ada.is_active = False
    ada.save()
    assert _refused(made.secret) == "The token's owner has been deactivated."


def test_refusing_costs_one_query_whatever_is_wrong(
    person, token, clock, django_assert_num_queries
):
    ada = person()
    revoked, good = token(ada, name="revoked"), token(ada, name="good")
    revoke_token(token=revoked.token, actor=ada, clock=clock)
    for secret in (revoked.secret, "mfly_unknown", good.secret[:-1]):
        with django_assert_num_queries(1):
            _refused(secret)


def test_a_wrong_token_is_refused_beside_a_good_session(person, signed_in):
    answer = signed_in("analyst").get("/api/v1/me", headers=bearer("mfly_unknown"))
    assert answer.status_code == 401


def test_a_token_in_the_address_is_no_token(person, token):
    made = token(person())
    for name in ("token", "access_token", "api_key", "key"):
        assert Client().get(f"/api/v1/me?{name}={made.secret}").status_code == 401


def test_a_token_opens_no_pages(person, token):
    made = token(person("operator"), "read", "author", "operate")
    for address in ("/account", "/account/tokens", "/people", "/api"):
        assert Client().get(address, headers=bearer(made.secret)).status_code == 302


def test_the_day_of_its_last_use_is_kept(person, token, django_assert_num_queries):
    made = token(person())
    Client().get("/api/v1/me", headers=bearer(made.secret))
    made.token.refresh_from_db()
    assert made.token.last_used_on == datetime.now(UTC).date()
    # The token with its owner, and the roles: no second write on the same day.
    with django_assert_num_queries(2):
        Client().get("/api/v1/me", headers=bearer(made.secret))


def test_another_scheme_is_nobody(db):
    answer = Client().get("/api/v1/me", headers={"Authorization": "Basic YWRhOmFkYQ=="})
    assert answer.json()["error"]["code"] == "not_authenticated"
