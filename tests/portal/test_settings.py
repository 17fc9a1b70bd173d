"""Wrong or missing settings stop the start with a sentence; production passes Django's checks."""

import ctypes
import os
import runpy
import subprocess
import sys

import pytest

from aggregation.errors import Problem
from tests.parts import ROOT, clean_environment, free_port

PRODUCTION = {
    "MAYFLY_PROFILE": "production",
    "MAYFLY_SECRET_KEY": "k3V-9xQ2_wz8LrT1yUo7PbN4mHs6EdGf0aJcXiKqWvBtYnRpMlZuOeSh",
    "MAYFLY_HOSTS": "mayfly.example.org",
    "MAYFLY_PUBLIC_URL": "https://mayfly.example.org",
    "MAYFLY_DATABASE_URL": "postgresql://mayfly:secret-word@127.0.0.1:1/mayfly",
    "MAYFLY_BROKER_URL": "redis://127.0.0.1:1/0",
    "MAYFLY_QUEUE_URL": "redis://127.0.0.1:2/0",
}


def manage(tmp_path, *arguments, before=None, **settings):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env={**clean_environment(), "MAYFLY_DATA": str(tmp_path), **settings},
        capture_output=True, text=True, timeout=60, check=False, preexec_fn=before,
    )  # fmt: skip


def without_roots_rights() -> None:
    """Modes count for root as well once it gives up CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability)


@pytest.fixture
def read_settings(tmp_path, monkeypatch):
    """Read the settings file anew under other variables."""

    def read(variables):
        for name in [n for n in os.environ if n.startswith("MAYFLY_")]:
            monkeypatch.delenv(name)
        for name, value in {"MAYFLY_DATA": str(tmp_path), **variables}.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(ROOT / "portal" / "settings.py"))

    return read


def test_production_passes_the_deployment_checks(tmp_path):
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert done.returncode == 0, done.stderr


def test_a_wrong_setting_stops_the_start_with_one_line(tmp_path):
    done = manage(tmp_path, "check", MAYFLY_PORT="http")
    assert done.returncode == 2
    assert done.stderr == ("mayfly: MAYFLY_PORT is 'http'. It takes a whole number, 1 to 65535.\n")


def test_a_database_that_is_away_stops_the_start_with_one_line(tmp_path):
    address = "postgresql://mayfly:hidden-word@127.0.0.1:1/mayfly"
    done = manage(tmp_path, "up", MAYFLY_DATABASE_URL=address, MAYFLY_PORT=str(free_port()))
    assert done.returncode == 2
    assert done.stderr.startswith("mayfly: The database does not answer (connection failed: ")
    assert done.stderr.count("\n") == 1
    assert "hidden-word" not in done.stderr + done.stdout


def test_a_database_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "mayfly.sqlite3").mkdir()
    done = manage(tmp_path, "prepare")
    assert done.returncode == 2
    assert done.stderr.startswith("mayfly: The database cannot be brought up to date: unable to")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="root's rights are given up by capability")
def test_a_file_of_another_user_is_one_line(tmp_path):
    lock = tmp_path / "up.lock"
    lock.touch(mode=0o000)
    done = manage(tmp_path, "up", before=without_roots_rights)
    assert done.returncode == 2
    assert done.stderr.startswith(f"mayfly: This user may not use {lock}.")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", [n for n in PRODUCTION if n != "MAYFLY_PROFILE"])
def test_production_does_not_start_without(read_settings, name):
    with pytest.raises(Problem) as refused:
        read_settings({k: v for k, v in PRODUCTION.items() if k != name})
    assert f"{name} is not set, and the production profile needs it." in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"MAYFLY_PORT": "70000"}, "It takes a whole number, 1 to 65535."),
        ({"MAYFLY_PROFILE": "prod"}, "It takes one of: demo, production."),
        ({"MAYFLY_HEARTBEAT_SECONDS": "nan"}, "It takes seconds, 0.1 to 86400."),
        ({"MAYFLY_DATABSE_URL": "x"}, "Did you mean MAYFLY_DATABASE_URL?"),
        ({"MAYFLY_DATABASE_URL": "mysql://u:hidden-word@h/n"}, "does not start with postgresql://"),
        ({"MAYFLY_DATABASE_URL": "postgresql://u:hidden-word@h"}, "names no database"),
        ({"MAYFLY_DATABASE_URL": "postgresql://u:hidden-word@h:5x/n"}, "a port that is no number"),
        ({"MAYFLY_EMAIL_URL": "smtp://u:hidden-word@h:99999"}, "a port that is no number"),
        ({"MAYFLY_DATABASE_URL": "postgresql://u:hidden-word[@h/n"}, "percent-encode characters"),
        ({"MAYFLY_QUEUE_URL": "redis://[::1"}, "MAYFLY_QUEUE_URL has no host"),
        ({"MAYFLY_DATABASE_URL": "postgresql://u:hidden-word@h/n?sslmod=require"}, '"sslmod"'),
        ({"MAYFLY_BROKER_URL": "redis://:hidden-word@h/jobs"}, "a database number"),
        ({"MAYFLY_QUEUE_URL": "redis://u:/hidden-word@queues:6379/0"}, "has an @ behind the host"),
        ({"MAYFLY_QUEUE_URL": "redis://u:7/hidden-word"}, "a database number after"),
        ({"MAYFLY_DATABASE_URL": "postgresql://u:7/hidden-word@h/n"}, "has an @ behind the host"),
        ({"MAYFLY_DATABASE_URL": "postgresql://h/n?conninfo=x"}, "something behind the ? that"),
        ({"MAYFLY_PUBLIC_URL": "https://example.org/mayfly"}, "Give it a host of its own"),
        ({"MAYFLY_HOSTS": "a.example.org,https://b.example.org"}, "'https://b.example.org', which"),
        ({"MAYFLY_HOSTS": "mayfly.example.org:443"}, "without https:// and port"),
        ({"MAYFLY_PROXIES": "10.0.0.5,proxy.example.org"}, "'proxy.example.org', which is no"),
        ({"MAYFLY_PROXIES": "10.0.0.5/24"}, "or networks such as 10.0.0.0/24"),
        ({"MAYFLY_PROXIES": "*"}, "which is no address"),
        ({"MAYFLY_KEYS_DIR": "~nobody-of-this-name/keys"}, "(MAYFLY_KEYS_DIR) cannot be written"),
        ({"MAYFLY_PUBLIC_URL": "http://"}, "MAYFLY_PUBLIC_URL has no host"),
        ({"MAYFLY_HOSTS": " , "}, "It takes names, with commas between."),
        ({"MAYFLY_SECRET_KEY": "short"}, "MAYFLY_SECRET_KEY is too short."),
        ({"MAYFLY_WEBHOOK_URL": "https://example.org/hook"}, "MAYFLY_WEBHOOK_SECRET has fewer"),
    ],
)
def test_a_wrong_setting_is_a_sentence_without_secrets(read_settings, settings, sentence):
    with pytest.raises(Problem) as refused:
        read_settings(settings)
    assert sentence in str(refused.value)
    assert "hidden-word" not in str(refused.value)


def test_the_demo_makes_its_secret_once_for_this_user_alone(tmp_path):
    assert manage(tmp_path, "clock", "--help").returncode == 0
    path = tmp_path / "keys" / "secret-key"
    first = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    assert manage(tmp_path, "clock", "--help").returncode == 0
    assert path.read_text() == first
    assert [p.name for p in (tmp_path / "keys").iterdir()] == ["secret-key"]


def test_hosts_and_proxies_are_read_as_they_are_compared(read_settings):
    hosts, proxies = ".example.org,[::1],*", "10.0.0.5, 10.0.0.0/24,fd00::/8"
    found = read_settings({"MAYFLY_HOSTS": hosts, "MAYFLY_PROXIES": proxies})
    assert found["ALLOWED_HOSTS"] == [".example.org", "[::1]", "*"]
    assert found["PROXIES"] == ["10.0.0.5", "10.0.0.0/24", "fd00::/8"]


def test_a_postgresql_address_is_read_in_full():
    from portal.environment import database

    found = database("postgresql://us%40er:p%2Fw@db.example.org:5433/name?sslmode=require")
    assert (found["USER"], found["PASSWORD"]) == ("us@er", "p/w")
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("db.example.org", "5433", "name")
    assert found["OPTIONS"]["sslmode"] == "require"
    assert found["OPTIONS"]["server_side_binding"] is True
    assert database("postgresql://postgres:@/name?host=/tmp/pg")["HOST"] == "/tmp/pg"
