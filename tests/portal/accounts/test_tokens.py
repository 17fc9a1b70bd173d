import logging
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from aggregation.errors import Problem
from portal.accounts.models import ApiToken
from portal.accounts.sign_in import NAME_LIMIT
from portal.accounts.tokens import digest, revoke_token
from portal.audit.models import Entry
from portal.problems import Conflict
from tests.portal.accounts.conftest import PASSWORD, bearer

pytestmark = pytest.mark.django_db
FORM = {
    "name": "nightly export",
    "scopes": ["read", "author"],
    "lifetime_days": "90",
    "password": PASSWORD,
}


def test_it_works(person, signed_in):
    ada = person("analyst", username="ada")
    answer = signed_in(who=ada).post("/account/tokens", FORM)
    secret = answer.context["created"].secret
    assert answer.status_code == 200
    assert secret in answer.content.decode()
    token = ada.tokens.get()
    assert (token.name, token.scopes, token.prefix) == (
        "nightly export",
        ["read", "author"],
        secret[:11],
    )
    assert token.expires_at - token.created_at == timedelta(days=90)
    assert Client().get("/api/v1/me", headers=bearer(secret)).status_code == 200


def test_the_secret_is_in_one_answer_and_nowhere_else(person, signed_in, caplog):
    client = signed_in(who=person(username="ada"))
    with caplog.at_level(logging.DEBUG):
        answer = client.post("/account/tokens", FORM)
        secret = answer.context["created"].secret
        Client().get("/api/v1/me", headers=bearer(secret))
        Client().get("/api/v1/me", headers=bearer(secret + "x"))
    assert answer["Cache-Control"] == "no-store"
    assert secret not in client.get("/account/tokens").content.decode()
    assert secret not in str(dict(client.session.items()))
    assert secret not in caplog.text
    body = secret.removeprefix("mfly_")
    for table, text in _all_rows():
        assert body not in text, f"the secret is in the table {table}"


def test_only_the_hash_is_kept(person, token):
    made = token(person())
    assert made.token.sha256 == digest(made.secret)
    assert len(made.secret) == len("mfly_") + 43
    assert made.secret not in repr(made)


def test_no_two_secrets_are_alike(person, token):
    ada = person()
    assert token(ada, name="one").secret != token(ada, name="two").secret


def test_loading_the_answer_again_does_not_make_a_second_one(person, signed_in):
    ada = person(username="ada")
    client = signed_in(who=ada)
    client.post("/account/tokens", FORM)
    answer = client.post("/account/tokens", FORM)
    assert "You have an active token named" in answer.content.decode()
    assert ada.tokens.count() == 1


def test_the_database_keeps_names_apart_too(person, token):
    ada = person()
    first = token(ada).token
    first.pk, first.sha256 = None, "0" * 64
    with pytest.raises(IntegrityError), transaction.atomic():
        first.save(force_insert=True)


def test_a_name_is_free_again_after_revoking(person, token, clock):
    ada = person()
    revoke_token(token=token(ada).token, actor=ada, clock=clock)
    assert token(ada).token.pk


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"scopes": []}, "This field is required"),
        ({"scopes": ["approve"]}, "Select a valid choice"),
        ({"lifetime_days": "3650"}, "Select a valid choice"),
        ({"name": ""}, "This field is required"),
        ({"password": ""}, "This field is required"),
        ({"password": "wrong"}, "This is not your password. Type the one you sign in with."),
        ({"password": f"{PASSWORD} "}, "This is not your password."),
    ],
)
def test_the_form_refuses(person, signed_in, wrong, sentence):
    ada = person()
    answer = signed_in(who=ada).post("/account/tokens", {**FORM, **wrong})
    assert sentence in answer.content.decode()
    assert not ada.tokens.exists()


def test_a_stolen_session_is_not_enough_to_make_one(person, signed_in):
    """Guesses are counted and on record like sign-ins, and the right one comes too late."""
    ada = person(username="ada")
    client = signed_in(who=ada)
    for _ in range(NAME_LIMIT + 3):
        client.post("/account/tokens", {**FORM, "password": "s3cret-typed-wrong"})
    answer = client.post("/account/tokens", FORM)
    assert "too many failed sign-ins" in answer.content.decode()
    assert not ada.tokens.exists()
    refused = Entry.objects.get(seq=NAME_LIMIT)
    assert (refused.action, refused.object_id) == ("sign_in.refused", str(ada.pk))
    assert Entry.objects.count() == NAME_LIMIT
    assert "s3cret" not in str([entry.content() for entry in Entry.objects.all()])


def test_a_password_is_taken_as_it_is(person, signed_in):
    ada = person(username="ada")
    ada.set_password(" begins and ends with a space ")
    ada.save()
    fields = {**FORM, "password": " begins and ends with a space "}
    assert signed_in(who=ada).post("/account/tokens", fields).context["created"]


def test_the_password_is_in_no_answer(person, signed_in):
    client = signed_in(who=person(username="ada"))
    for wrong in ({}, {"name": ""}, {"password": "s3cret-typed-wrong"}):
        page = client.post("/account/tokens", {**FORM, **wrong}).content.decode()
        assert PASSWORD not in page
        assert "s3cret" not in page


def test_the_service_refuses_as_well(person, token):
    ada = person()
    with pytest.raises(Problem, match="no scope 'approve'"):
        token(ada, "approve")
    with pytest.raises(Problem, match="3650 days"):
        token(ada, lifetime_days=3650)
    token(ada)
    with pytest.raises(Conflict, match="active token named 'notebook'"):
        token(ada)


def test_it_is_revoked_for_good(person, signed_in, token):
    ada = person(username="ada")
    made = token(ada)
    client = signed_in(who=ada)
    assert client.post(f"/account/tokens/{made.token.pk}/revoke")["Location"] == "/account/tokens"
    made.token.refresh_from_db()
    assert made.token.state == ApiToken.State.REVOKED
    assert Client().get("/api/v1/me", headers=bearer(made.secret)).status_code == 401
    client.post(f"/account/tokens/{made.token.pk}/revoke")
    assert Entry.objects.filter(action="token.revoked").count() == 1


def test_someone_elses_token_is_not_there(person, signed_in, token):
    made = token(person(username="ada"))
    eve = signed_in("operator")
    assert eve.post(f"/account/tokens/{made.token.pk}/revoke").status_code == 404
    assert eve.post(f"/api/v1/tokens/{made.token.pk}/revoke").status_code == 404
    assert made.token.prefix not in eve.get("/account/tokens").content.decode()
    made.token.refresh_from_db()
    assert made.token.state == ApiToken.State.ACTIVE


def test_revoking_takes_a_post(person, signed_in, token):
    ada = person()
    assert (
        signed_in(who=ada).get(f"/account/tokens/{token(ada).token.pk}/revoke").status_code == 405
    )


def test_making_and_revoking_are_on_record(person, token, clock):
    ada = person(username="ada")
    revoke_token(token=token(ada, "read", "operate").token, actor=ada, clock=clock)
    made, revoked = Entry.objects.order_by("seq")
    assert (made.action, revoked.action) == ("token.created", "token.revoked")
    assert made.object_label == "token notebook of ada"
    assert made.changes == [
        {"field": "scopes", "from": None, "to": "read, operate"},
        {"field": "lifetime_days", "from": None, "to": 30},
    ]
    assert revoked.changes == [{"field": "state", "from": "active", "to": "revoked"}]


def test_the_list_shows_what_is_over(person, signed_in, token):
    ada = person()
    made = token(ada)
    long_ago = datetime.now(UTC) - timedelta(days=100)
    ApiToken.objects.update(created_at=long_ago, expires_at=long_ago + timedelta(days=30))
    page = signed_in(who=ada).get("/account/tokens").content.decode()
    assert "Expired" in page
    assert made.token.prefix in page


def _all_rows():
    """Every row of every table of the database, as text."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                yield table, str(row)
