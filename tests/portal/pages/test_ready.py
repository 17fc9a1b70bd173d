"""/ready: whether a front end has what it needs, apart from how every part is."""

import pytest
from django.db import connection

from portal import heartbeats
from portal.pages import readiness
from portal.pages.jobs import heartbeat


@pytest.fixture
def alive(db, valkey):
    heartbeat()


def missing(client) -> tuple[int, list[str]]:
    answer = client.get("/ready")
    return answer.status_code, [need["name"] for need in answer.json()["needs"] if not need["ok"]]


def test_it_is_ready_without_any_worker(alive, client):
    for key in heartbeats.queue_client().scan_iter("mayfly:alive:sessions@*"):
        heartbeats.queue_client().delete(key)
    assert missing(client) == (200, [])
    assert client.get("/ready").json()["status"] == "ready"


def test_it_needs_beat(alive, client):
    heartbeats.queue_client().delete("mayfly:alive:heartbeat")
    assert missing(client) == (503, ["heartbeat"])


def test_it_needs_its_keys_closed_to_others(alive, client, settings, tmp_path):
    settings.KEYS_DIR = tmp_path
    tmp_path.chmod(0o750)
    assert missing(client) == (503, ["keys"])


def test_it_needs_every_migration(alive, client, monkeypatch):
    monkeypatch.setitem(readiness._seen, "complete", False)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'lab'")
    assert missing(client) == (503, ["migrations"])
    assert "manage.py prepare" in str(client.get("/ready").json())


def test_it_tells_guests_no_hosts(alive, client):
    heartbeats.beat("jobs@secret-host")
    assert b"secret-host" not in client.get("/ready").content
