"""The keys that devices pin, for programs and for people at a terminal."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.core.management import call_command

from portal.collection.keys import device_keys, pinned_keys, worker_key


def test_everyone_gets_the_same_two_keys(keys, client, capsys, db):
    call_command("device_keys")
    printed = json.loads(capsys.readouterr().out)
    assert printed == pinned_keys() == client.get("/api/v1/device-keys").json()
    assert printed == {**device_keys(), "also": {"approval": [], "worker": []}}
    pinned = Ed25519PublicKey.from_public_bytes(bytes.fromhex(printed["worker"]))
    pinned.verify(worker_key().sign(b"word"), b"word")


def test_private_keys_are_files_for_us_alone(keys):
    device_keys()
    assert sorted(path.name for path in keys.iterdir()) == ["approval-key", "worker-key"]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in keys.iterdir())


@pytest.mark.django_db
def test_a_guest_gets_public_keys_and_nothing_else(keys, client):
    answer = client.get("/api/v1/device-keys")
    assert answer.status_code == 200
    private = [path.read_bytes().hex() for path in keys.iterdir()]
    assert not [secret for secret in private if secret in answer.content.decode()]
    assert client.post("/api/v1/device-keys").status_code == 405
