"""The overview: what is wrong, since when, and what to do; each by bringing it about."""

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from aggregation.clock import SystemClock
from portal import heartbeats, observing_jobs
from portal.audit.models import Entry, Verification
from portal.audit.services import record
from portal.audit.verification import verify_log
from portal.collection import placing
from portal.notifications.models import Delivery, Event
from portal.pages.jobs import heartbeat
from portal.pages.overview import of_keeping, of_parts, of_work
from portal.pages.overview.finding import Finding, Seen
from portal.pages.overview.selectors import SOURCES, Looked, look
from portal.pages.overview.since import FIRST_SEEN
from portal.supervisor.preflight import KEYS
from portal.valkey import queue_client
from tests.parts import ROOT, eventually
from tests.portal.pages.reading_docs import tables

CLOCK = SystemClock()


@pytest.fixture(autouse=True)
def nothing_wrong(db, valkey):
    """Parts alive, the chain verified, and nothing left from other tests."""
    client = queue_client()
    client.delete(FIRST_SEEN, observing_jobs.FAILING, heartbeats._LAST, heartbeats._JUMP)
    for name in ("sessions@here", "jobs@here"):
        heartbeats.beat(name)
    heartbeat()
    verify_log(whole=True)


def found(kind: str):
    return [one for one in look(clock=CLOCK, numbers=False).findings if one.kind == kind]


def test_nothing_is_wrong_and_the_numbers_say_why(signed_in, monkeypatch):
    monkeypatch.setattr(of_keeping, "streams", lambda seen: iter(()))
    kinds = {one.kind for one in look(clock=CLOCK).findings}
    assert kinds <= {"streams-missing"}
    assert len(look(clock=CLOCK).numbers) == 6


def test_nothing_is_not_said_to_be_wrong_above_what_is_found():
    finding = Finding("k", "info", "2 sessions died", "M.", "R.", since=datetime.now(UTC))
    for findings, said in (((), "Nothing is wrong."), ((finding,), "Nothing needs to be done.")):
        looked = Looked(findings, (), questions=1)
        shown = {"looked": looked, "at": datetime.now(UTC)}
        page = render_to_string("pages/_findings.html", shown)
        assert [words for words in _NOTHING if words in page] == [said]


_NOTHING = ("Nothing is wrong.", "Nothing needs to be done.")


def test_a_real_worker_that_is_killed_is_found_and_one_that_stops_is_not():
    """Two of a kind: one is stopped and says good-bye, the other one is killed."""
    stopped, killed = _worker("sessions@stopped"), _worker("sessions@killed")
    try:
        eventually(
            lambda: {"sessions@stopped", "sessions@killed"} <= heartbeats.parts_alive().keys()
        )
        stopped.send_signal(signal.SIGTERM)
        stopped.wait(timeout=30)
        killed.kill()
        killed.wait()
        heartbeats.beat("sessions@here")
        seen = Seen(datetime.now(UTC) + timedelta(minutes=1), CLOCK)
        eventually(lambda: "sessions@killed" not in heartbeats.parts_alive())
        heartbeats.beat("sessions@here")
        (one,) = of_parts.silent_workers(seen)
    finally:
        for process in (stopped, killed):
            process.kill()
            process.wait()
    assert one.subject == "sessions@killed"
    assert datetime.now(UTC) - one.since < timedelta(minutes=2)


def _worker(name: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "celery", "-A", "portal.celery", "--quiet", "worker"]
    command += ["-P", "threads", "-c", "1", "-Q", "nobody", "-n", name, "--without-gossip"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), **quiet)


def test_no_worker_of_a_kind_is_a_part_that_is_not_well(signed_in):
    queue_client().delete("mayfly:alive:sessions@here")
    (one,) = [f for f in found("part-unwell") if f.subject == "sessions"]
    assert one.weight == "bad"
    assert "nothing is collected" in one.meaning
    assert one.since is not None
    page = signed_in("operator").get("/overview").content.decode()
    assert "Session worker is not well" in page
    assert page.index("Act now") < page.index("The numbers behind it")


def test_the_worst_comes_first_and_a_moment_stays_the_same():
    queue_client().delete("mayfly:alive:sessions@here")
    Delivery.objects.create(**_failed())
    first = look(clock=CLOCK).findings
    weights = [one.weight for one in first]
    assert weights == sorted(weights, key=("bad", "warning", "info").index)
    again = look(clock=CLOCK).findings
    assert {one.key: one.since for one in again} == {one.key: one.since for one in first}


def _failed() -> dict:
    now = datetime.now(UTC)
    event = Event.objects.create(kind="task.x", title="T", link="/", created_at=now, civil_at=now)
    state, channel = Delivery.State.FAILED, Delivery.Channel.WEBHOOK
    error = "The server did not answer."
    return {
        "event": event,
        "channel": channel,
        "state": state,
        "due_at": now,
        "settled_at": now,
        "error": error,
    }


def test_messages_that_fail():
    Delivery.objects.create(**_failed())
    (one,) = found("messages-failing")
    assert one.title == "Webhook: 1 given up, 0 tried again"
    assert "The server did not answer." in one.remedy


def test_a_job_that_fails_is_named_with_the_id_to_look_for():
    told = '{"since": 1000.0, "job": "an-id", "times": 4}'
    queue_client().hset(observing_jobs.FAILING, "releases.render_releases", told)
    (one,) = found("job-failing")
    assert "an-id" in one.command
    assert one.since == datetime.fromtimestamp(1000, UTC)


def test_jobs_that_pile_up(monkeypatch):
    monkeypatch.setattr(of_parts, "_MANY_JOBS", 2)
    queue_client().rpush("jobs", "a", "b")
    try:
        (one,) = found("jobs-piled-up")
        assert one.title == "2 jobs wait for a worker"
        assert one.command == "python manage.py process jobs --instance further"
    finally:
        queue_client().delete("jobs")


def test_a_task_without_a_slot():
    import msgspec

    told = placing.Findings(slots=4, taken=4, waiting=("weekly-trips 2",))
    queue_client().set(placing.FINDINGS, msgspec.json.encode(told), ex=30)
    try:
        (one,) = found("no-slot")
    finally:
        queue_client().delete(placing.FINDINGS)
    assert "weekly-trips 2" in one.title
    assert one.command == "python manage.py process sessions --instance further"


def test_a_broken_chain_and_an_old_one(monkeypatch):
    from portal.pages import health

    Verification.objects.update(problem="Entry 7 is missing from the audit log.")
    (one,) = found("audit-broken")
    assert "Entry 7 is missing" in one.remedy
    Verification.objects.update(problem="", at=datetime.now(UTC) - timedelta(hours=2))
    monkeypatch.setattr(health, "_STARTED", time.monotonic() - 7200)
    assert found("audit-old")[0].weight == "warning"


def test_a_database_that_has_forgotten_something(forget, signed_in):
    """With words of its own, whatever is wrong with the chain besides."""
    assert not found("database-behind")
    forget()
    (one,) = found("database-behind")
    assert (one.weight, one.title) == ("bad", "Nothing is collected or released")
    assert "accept_restore" in one.remedy
    assert one.link == "/docs/operations#restoring"
    assert not found("audit-old")
    assert "Act now" in signed_in("operator").get("/overview").content.decode()
    Verification.objects.update(problem="Entry 7 is missing from the audit log.")
    (broken,) = found("audit-broken")
    assert "Entry 7 is missing" in broken.remedy
    assert found("database-behind") == [one]


def test_a_clock_that_is_behind_what_was_written(person):
    class Ahead(SystemClock):
        def now(self):
            return super().now() + timedelta(hours=3)

    record(action="person.added", subject=person("analyst"), clock=Ahead())
    ahead = datetime.now(UTC) - timedelta(hours=3)
    assert [one.kind for one in of_keeping.clocks(Seen(ahead, CLOCK))] == ["clock-behind"]
    assert not list(of_keeping.clocks(Seen(datetime.now(UTC), CLOCK)))
    assert Entry.objects.exists()


def test_who_died_with_a_clock_that_was_ahead_keeps_nobody_waiting(monkeypatch):
    """Only what lives is asked for the time."""
    real = time.time
    monkeypatch.setattr("portal.heartbeats.time.time", lambda: real() + 30 * 86_400)
    heartbeats.beat("jobs@ahead")
    monkeypatch.undo()
    assert [one.kind for one in of_keeping.clocks(Seen(datetime.now(UTC), CLOCK))] == [
        "clock-behind"
    ]
    queue_client().delete("mayfly:alive:jobs@ahead")
    assert "jobs@ahead" in heartbeats.last_seen()
    assert not list(of_keeping.clocks(Seen(datetime.now(UTC), CLOCK)))


def test_what_this_machine_writes_itself_does_not_hide_it(person, monkeypatch):
    ada, ahead = person("analyst"), datetime.now(UTC) - timedelta(hours=3)
    record(action="person.added", subject=ada, clock=CLOCK)

    class Behind(datetime):
        @classmethod
        def now(cls, tz=None):
            return ahead

    monkeypatch.setattr("portal.audit.services.datetime", Behind)
    record(action="sign_in.accepted", subject=ada, clock=CLOCK)
    assert [one.kind for one in of_keeping.clocks(Seen(ahead, CLOCK))] == ["clock-behind"]


def test_a_clock_that_jumped():
    offset = time.time() - time.monotonic()
    heartbeats.note_jump(offset)
    assert not found("clock-jumped")
    heartbeats.note_jump(offset - 8 * 86_400)
    assert found("clock-jumped")[0].title == "A worker's clock jumped forward by 691,200 s"


def test_keys_that_others_can_read_or_that_are_damaged(settings, tmp_path):
    settings.KEYS_DIR = tmp_path
    tmp_path.chmod(0o755)
    assert "open to other users" in found("keys")[0].remedy
    tmp_path.chmod(0o700)
    assert not found("keys")
    (tmp_path / "approval-key").write_bytes(b"short")
    assert "damaged" in found("keys")[0].remedy
    assert not (tmp_path / "people-key").exists(), "looking makes no keys"


def test_each_kind_of_key_may_be_damaged(settings, tmp_path):
    tmp_path.chmod(0o700)
    settings.KEYS_DIR = tmp_path
    for name in KEYS:
        (tmp_path / name).write_bytes(b"short")
        assert f"The key file {name} is damaged" in found("keys")[0].remedy
        (tmp_path / name).unlink()


def test_each_kind_of_key_may_be_gone_in_production(settings, tmp_path):
    tmp_path.chmod(0o700)
    settings.KEYS_DIR = tmp_path
    for name in KEYS:
        (tmp_path / name).write_bytes(32 * b"k")
    settings.DEMO = False
    assert not found("keys")
    for name in KEYS:
        (tmp_path / name).rename(tmp_path / "away")
        assert f"{name} is gone" in found("keys")[0].remedy
        (tmp_path / "away").rename(tmp_path / name)


def test_keys_beside_data_are_told_in_production_alone(settings):
    assert not found("keys-beside-data")
    settings.DEMO = False
    assert found("keys-beside-data")


def test_a_disk_that_fills_up(monkeypatch):
    monkeypatch.setattr(of_keeping, "free_share", lambda folder: 0.05)
    assert {one.weight for one in found("disk-full")} == {"warning"}
    monkeypatch.setattr(of_keeping, "free_share", lambda folder: 0.01)
    assert {one.weight for one in found("disk-full")} == {"bad"}


def test_the_disk_of_releases_is_looked_at_where_it_is_another(monkeypatch, settings, tmp_path):
    settings.RELEASES_DIR = tmp_path
    monkeypatch.setattr(of_keeping, "free_share", lambda folder: 0.05 if folder == tmp_path else 1)
    (one,) = found("disk-full")
    assert one.title == "The disk of the releases folder is 95 % full"
    assert one.command == f"df -h {tmp_path}"


def test_queues_that_write_to_a_disk():
    queue_client().config_set("appendonly", "yes")
    try:
        assert "writes to its disk" in found("updates-at-rest")[0].remedy
    finally:
        queue_client().config_set("appendonly", "no")


def test_memory_of_the_queues():
    used = int(queue_client().info("memory")["used_memory"])
    queue_client().config_set("maxmemory", str(int(1.1 * used)))
    try:
        assert found("queues-memory")
    finally:
        queue_client().config_set("maxmemory", "0")


def test_only_operators_may_look(signed_in, client):
    assert client.get("/overview").status_code == 302
    assert signed_in("reviewer").get("/overview").status_code == 403
    assert signed_in("operator").get(reverse("overview")).status_code == 200


def test_every_finding_is_in_the_documentation():
    """The kinds that stand in the code, and the table of the page."""
    import inspect
    import re

    code = "".join(inspect.getsource(module) for module in (of_parts, of_work, of_keeping))
    kinds = set(re.findall(r'kind="([a-z-]+)"', code)) | {"audit-old"}
    assert {row[0] for row in dict(tables("overview"))["What is looked at"]} == kinds
    assert len(SOURCES) >= 20
