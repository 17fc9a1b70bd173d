"""What the database itself keeps of a token, whoever writes."""

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from portal.accounts.models import ApiToken
from portal.accounts.tokens import revoke_token

pytestmark = [pytest.mark.databases, pytest.mark.django_db]
COPIED = ", ".join(f.column for f in ApiToken._meta.concrete_fields)


@pytest.fixture
def revoked(person, token, clock):
    ada = person("analyst", username="ada")
    made = token(ada).token
    revoke_token(token=made, actor=ada, clock=clock)
    return made


def refused(statement, *values):
    with pytest.raises(DatabaseError), transaction.atomic():
        connection.cursor().execute(statement, values)


def test_a_revoked_token_is_not_made_active_again(revoked):
    refused("UPDATE accounts_apitoken SET state = 'active'")
    with pytest.raises(IntegrityError, match="A revoked token stays revoked"), transaction.atomic():
        ApiToken.objects.update(state="active")
    revoked.state = "active"
    with pytest.raises(IntegrityError), transaction.atomic():
        revoked.save()
    assert ApiToken.objects.get().state == "revoked"


def test_a_revoked_token_is_not_replaced(revoked):
    active = COPIED.replace("state", "'active'")
    same = f"INTO accounts_apitoken ({COPIED}) SELECT {active} FROM accounts_apitoken"
    refused(f"INSERT {same}")
    if connection.vendor == "sqlite":
        refused(f"INSERT OR REPLACE {same}")
    # Under another id, with the secret that was revoked.
    refused(f"INSERT {same.replace('SELECT id,', 'SELECT id + 1,')}")
    assert ApiToken.objects.get().state == "revoked"


def test_a_revoked_token_is_not_removed_to_be_added_again(revoked):
    refused("DELETE FROM accounts_apitoken")
    if connection.vendor == "postgresql":
        refused("TRUNCATE accounts_apitoken CASCADE")
    assert ApiToken.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        "scopes = '[\"operate\"]'",
        "expires_at = '2099-01-01 00:00:00+00:00'",
        "sha256 = 'aa'",
        "prefix = 'aa'",
        "name = 'another'",
        "id = id + 1",
    ],
)
def test_a_token_keeps_what_it_was_made_with(person, token, change):
    token(person("analyst"))
    refused(f"UPDATE accounts_apitoken SET {change}")


def test_a_token_keeps_its_owner(person, token):
    token(person("analyst"))
    refused("UPDATE accounts_apitoken SET owner_id = %s", person("operator").pk)
