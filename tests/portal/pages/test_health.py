"""/health: how the parts are, for people and for programs, whatever is down."""

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from portal import heartbeats
from portal.accounts.tokens import create_token
from portal.audit.models import Verification
from portal.audit.verification import verify_log
from portal.pages import health
from portal.pages.jobs import heartbeat

ROOT = Path(__file__).resolve().parents[3]
NAMES = ["web", "database", "valkey", "sessions", "jobs", "heartbeat", "audit"]


def part(name: str) -> health.Part:
    return next(part for part in health.parts() if part.name == name)


def test_it_is_ok_when_every_part_gives_a_sign_of_life(
    db: None, valkey: None, client: Client
) -> None:
    heartbeats.beat("sessions@here")
    heartbeats.beat("jobs@here")
    heartbeat()
    verify_log(whole=True)
    answer = client.get("/health?format=json")
    body = answer.json()
    assert (answer.status_code, body["status"], body["version"]) == (200, "ok", "0.1.0")
    assert [found["name"] for found in body["parts"]] == NAMES
    assert set(body["parts"][0]) == {"name", "ok", "detail", "age_seconds"}


def test_it_is_degraded_when_no_session_worker_is_alive(
    db: None, valkey: None, client: Client
) -> None:
    store = heartbeats.queue_client()
    for key in store.scan_iter("mayfly:alive:sessions@*"):
        store.delete(key)
    answer = client.get("/health", headers={"accept": "application/json"})
    assert answer.status_code == 503
    found = {found["name"]: found for found in answer.json()["parts"]}
    assert not found["sessions"]["ok"]
    assert "No session worker is alive." in found["sessions"]["detail"]


def test_people_get_a_page_even_while_something_is_not_well(db: None, client: Client) -> None:
    answer = client.get("/health", headers={"accept": "text/html"})
    assert answer.status_code == 200
    assert "Something is not well." in answer.content.decode()


def test_it_tells_guests_no_hosts(db: None, valkey: None, client: Client) -> None:
    heartbeats.beat("sessions@secret-host")
    assert b"secret-host" not in client.get("/health?format=json").content


def test_a_broken_chain_is_not_well_and_says_where_it_breaks(db: None) -> None:
    verify_log(whole=True)
    Verification.objects.update(problem="Entry 7 is missing from the audit log.")
    found = part("audit")
    assert not found.ok
    assert "Entry 7 is missing" in found.detail


def test_a_stale_verification_is_not_well_once_there_was_time_for_a_new_one(
    db: None, monkeypatch: Any
) -> None:
    verify_log(whole=True)
    Verification.objects.update(at=datetime.now(UTC) - timedelta(hours=2))
    monkeypatch.setattr(health, "_STARTED", time.monotonic())
    assert part("audit").ok, "the process has only just started"
    monkeypatch.setattr(health, "_STARTED", time.monotonic() - 7200)
    found = part("audit")
    assert not found.ok
    assert found.age_seconds is not None
    assert found.age_seconds > 7000


@pytest.fixture(params=["damaged", "unreadable"])
def keys_that_tell_nothing(db: None, settings: Any, tmp_path: Path, request: Any) -> None:
    settings.KEYS_DIR = tmp_path
    tmp_path.chmod(0o700)
    verify_log(whole=True)
    if request.param == "damaged":
        (tmp_path / "witness.json").write_bytes(b"{")
    else:
        (tmp_path / "witness.json").mkdir()


def test_a_key_folder_that_tells_nothing_is_not_well_and_pages_answer(
    keys_that_tell_nothing: None, valkey: None, signed_in: Any
) -> None:
    found = part("audit")
    assert not found.ok
    assert "Nobody can tell whether this database has forgotten something" in found.detail
    operator = signed_in("operator")
    assert operator.get("/health").status_code == 200
    assert operator.get("/health?format=json").status_code == 503
    assert operator.get("/ready").json()["needs"]
    assert "Nothing is collected or released" in operator.get("/overview").content.decode()


def test_metrics_of_such_a_key_folder_say_that_the_log_is_not_well(
    keys_that_tell_nothing: None, valkey: None, person: Any, clock: Any
) -> None:
    owner = person("operator")
    token = create_token(owner=owner, name="p", scopes=["operate"], lifetime_days=30, clock=clock)
    told = Client().get("/metrics", headers={"Authorization": f"Bearer {token.secret}"})
    assert 'mayfly_part_up{part="audit"} 0' in told.content.decode()


_WITH_EVERYTHING_DOWN = """
import json, django
django.setup()
from django.core.management import call_command
from django.test import Client
call_command("collectstatic", interactive=False, verbosity=0)
guest, known = Client(raise_request_exception=False), Client(raise_request_exception=False)
known.cookies["sessionid"] = "a" * 32
answers = {
    "json": known.get("/health?format=json"),
    "page": known.get("/health"),
    "home": known.get("/"),
    "guest": guest.get("/"),
    "missing": known.get("/no-such-page"),
    "api": known.get("/api/v1/streams"),
}
print(json.dumps({k: [a.status_code, a.content.decode()] for k, a in answers.items()}))
"""


def test_it_answers_with_database_and_valkey_both_down(tmp_path: Path) -> None:
    (tmp_path / "mayfly.sqlite3").mkdir()
    answers = _run(_WITH_EVERYTHING_DOWN, tmp_path)
    status, body = answers["json"]
    parts = {found["name"]: found for found in json.loads(body)["parts"]}
    assert status == 503
    assert [name for name in NAMES if parts[name]["ok"]] == ["web"]
    assert "disk" in parts["database"]["detail"]
    assert answers["page"][0] == 200
    assert "The database does not answer." in answers["page"][1]
    assert answers["guest"][0] == 200
    assert answers["home"][0] == 500
    assert "Health of the parts" in answers["home"][1]
    assert answers["missing"][0] == 404
    assert json.loads(answers["api"][1])["error"]["code"]


def _run(code: str, data: Path) -> dict[str, tuple[int, str]]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAYFLY_")}
    env |= {
        "MAYFLY_DATA": str(data),
        "MAYFLY_HOSTS": "testserver",
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers: dict[str, tuple[int, str]] = json.loads(done.stdout.splitlines()[-1])
    return answers
