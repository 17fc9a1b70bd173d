"""The key file: made once, for us alone, outside the database."""

import hashlib
import json
import threading

import pytest
from django.core.management import call_command
from django.db import connection

from aggregation.errors import Problem
from aggregation.protocol.approval import is_signed
from portal.supervisor.preflight import KEYS
from portal.tasks import signing


@pytest.fixture
def keys(settings, tmp_path):
    settings.KEYS_DIR = tmp_path
    return tmp_path


def test_an_approval_verifies_with_the_public_key_alone(submitted, approve, rafael):
    revision = approve(submitted())
    approval = signing.approval_for(revision, approver=rafael, approved_at=revision.approved_at)
    public = signing.approval_public_key()
    assert is_signed(approval, bytes.fromhex(revision.signature), public)
    assert approval.author != approval.approver
    assert "rafael" not in approval.signed_bytes().decode()


def test_the_key_is_for_us_alone(keys):
    signing.approval_public_key()
    found = keys / "approval-key"
    assert found.stat().st_mode & 0o777 == 0o600
    assert len(found.read_bytes()) == 32
    assert [path.name for path in keys.iterdir()] == ["approval-key"]


def test_several_first_users_agree_on_one_key(keys):
    found = []

    def ask():
        found.append(signing.approval_public_key().public_bytes_raw())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_damaged_key_is_a_sentence(keys):
    (keys / "approval-key").write_bytes(b"half")
    with pytest.raises(Problem, match="approval-key is damaged"):
        signing.approval_public_key()


def test_another_key_trusts_nothing(submitted, approve, settings, tmp_path):
    revision = approve(submitted())
    assert signing.is_trusted(revision)
    settings.KEYS_DIR = tmp_path
    assert not signing.is_trusted(revision)


def test_the_key_is_not_in_the_database(submitted, approve, settings):
    approve(submitted())
    key = (settings.KEYS_DIR / "approval-key").read_bytes()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            text = repr(cursor.fetchall())
            assert key.hex() not in text
            assert repr(key) not in text


@pytest.mark.parametrize(
    ("document", "change"),
    [
        ("client_task", {"metrics": []}),
        ("client_task", {"max_rows": None}),
        ("server_config", {"max_rows": None}),
        ("server_config", {"metrics": "none"}),
    ],
)
def test_what_cannot_be_carried_out_is_not_trusted_though_it_is_signed(
    submitted, approve, rafael, document, change
):
    """One revision that cannot be read must not stop the loops that serve all tasks."""
    revision = approve(submitted())
    content = json.loads(getattr(revision, f"{document}_json"))
    _sign_anew(revision, rafael, document, content)
    assert signing.is_trusted(revision)
    _sign_anew(revision, rafael, document, {**content, **change})
    assert not signing.is_trusted(revision)


def _sign_anew(revision, approver, document, content):
    text = json.dumps(content)
    setattr(revision, f"{document}_json", text)
    setattr(revision, f"{document}_sha256", hashlib.sha256(text.encode()).hexdigest())
    if document == "client_task":
        config = {
            **json.loads(revision.server_config_json),
            "client_task": revision.client_task_sha256,
        }
        _sign_anew(revision, approver, "server_config", config)
    approval = signing.approval_for(revision, approver=approver, approved_at=revision.approved_at)
    revision.key_id, revision.signature = signing.sign_approval(approval)


@pytest.mark.parametrize("name", KEYS)
def test_a_key_that_others_were_made_with_is_replaced_only_where_it_is_lost(
    keys, submitted, approve, name
):
    call_command("make_keys", verbosity=0)
    approve(submitted())
    call_command("make_keys", verbosity=0)
    kept = (keys / name).read_bytes()
    (keys / name).unlink()
    with pytest.raises(Problem, match=f"lacks their {name}"):
        call_command("make_keys", verbosity=0)
    assert not (keys / name).exists()
    with pytest.raises(Problem, match=f"lacks their {name}"):
        call_command("make_keys", lost=[other for other in KEYS if other != name], verbosity=0)
    (keys / name).write_bytes(b"half")
    with pytest.raises(Problem, match=f"{name} is damaged"):
        call_command("make_keys", lost=[name], verbosity=0)
    (keys / name).unlink()
    call_command("make_keys", lost=[name], verbosity=0)
    assert (keys / name).read_bytes() != kept
