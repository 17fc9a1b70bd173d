"""The key file: made once, for us alone, outside the database."""

import threading

import pytest
from django.db import connection

from aggregation.errors import Problem
from aggregation.protocol.approval import is_signed
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
