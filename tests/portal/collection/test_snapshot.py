"""What front ends are told: open windows of trusted revisions, and sessions that hold them."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from aggregation.protocol.approval import Approval, is_signed
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.session_key import is_session_key
from portal.collection import jobs
from portal.collection.keys import device_keys
from portal.collection.live import SNAPSHOT
from portal.collection.models import ActiveDevices, Hold, Session
from portal.collection.placing import FINDINGS, bury, place_sessions
from portal.collection.said import said
from portal.collection.snapshot import publish_snapshot, snapshot
from portal.tasks import services
from portal.valkey import queue_client
from tests.parts import eventually
from tests.portal.collection.collecting import gathered_sum

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"


def windows(collecting):
    return [task["windows"] for task in snapshot(clock=collecting.clock)["tasks"]]


def test_it_works(collecting, monkeypatch):
    session = collecting.start(*collecting.place())
    eventually(lambda: said([session.pk]))
    monkeypatch.setattr(jobs, "civil_clock", lambda: collecting.clock)
    jobs.publish_snapshot()
    found = json.loads(queue_client().get("mayfly:snapshot"))
    assert 0 < queue_client().ttl("mayfly:snapshot") <= 30
    assert set(found) == {
        "at", "populations", "tasks", "next_due_seconds", "next_due_open_seconds", "busy",
    }  # fmt: skip
    assert (found["at"], found["populations"]) == ("2026-11-18T00:00:00+00:00", ["all"])
    # The window of the 18th is over at its end, and has two days of grace.
    assert (found["next_due_seconds"], found["next_due_open_seconds"]) == (86_400, 2 * 86_400)
    assert found["busy"] == 0
    (task,) = found["tasks"]
    assert set(task) == {
        "task", "client_task", "populations", "window_unit", "windows", "eligibility", "schedule",
        "approval", "signature", "key_id", "max_sealed", "sessions",
    }  # fmt: skip
    assert (task["task"], task["windows"]) == ("trips-by-region", [FIRST])
    assert task["client_task"] == collecting.revision.client_task_sha256


def test_a_device_believes_what_is_in_it(collecting):
    session = collecting.start(*collecting.place())
    eventually(lambda: said([session.pk]))
    (task,) = snapshot(clock=collecting.clock)["tasks"]
    pins = {
        name: Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        for name, key in device_keys().items()
    }
    approval = Approval(**task["approval"])
    assert is_signed(approval, bytes.fromhex(task["signature"]), pins["approval"])
    assert approval.client_task == task["client_task"]
    (told,) = task["sessions"]
    assert is_session_key(
        pins["worker"],
        bytes.fromhex(told["signature"]),
        session=told["id"],
        client_task=task["client_task"],
        public=bytes.fromhex(told["public_key"]),
    )


def test_windows_are_listed_from_their_end_to_the_end_of_grace(collecting):
    seen = {}
    for moment in ("18T23:59:59", "19T00:00:00", "19T23:59:59", "20T00:00:00", "21T00:00:00"):
        collecting.go_to(f"2026-11-{moment}")
        seen[moment] = windows(collecting)
    assert seen == {
        "18T23:59:59": [[FIRST]],
        "19T00:00:00": [[FIRST, SECOND]],
        "19T23:59:59": [[FIRST, SECOND]],
        "20T00:00:00": [[SECOND, "2026-11-19"]],
        "21T00:00:00": [["2026-11-19", "2026-11-20"]],
    }


def test_a_window_that_is_gathered_is_not_listed(collecting):
    collecting.go_to("2026-11-20T00:00:00")
    gathered_sum(collecting, FIRST)
    collecting.clock.set(collecting.window(FIRST).due_at.replace(day=19))
    assert windows(collecting) == [[SECOND, "2026-11-19"]]


def test_only_sessions_that_serve_are_listed(collecting):
    session = collecting.start(*collecting.place())
    eventually(lambda: said([session.pk]))

    def told():
        (task,) = snapshot(clock=collecting.clock)["tasks"]
        return [one["id"] for one in task["sessions"] if one["load"] < 1]

    assert told() == [session.pk]
    # Not before it holds every window that devices are told of.
    other = collecting.by_hand([FIRST], 1)
    other.beat()
    assert sorted(told()) == sorted([session.pk, other.row.pk])
    Hold.objects.filter(session=other.row).delete()
    assert told() == [session.pk]
    # With no room for more, while it waits for a successor or for those who are on their way.
    Session.objects.filter(pk=session.pk).update(reason="full")
    assert told() == []
    (task,) = snapshot(clock=collecting.clock)["tasks"]
    assert [one["load"] for one in task["sessions"]] == [1.0]
    bury(Session.objects.get(pk=session.pk), Session.Reason.LOST, clock=collecting.clock)
    (task,) = snapshot(clock=collecting.clock)["tasks"]
    assert task["sessions"] == []


def test_a_revision_that_is_not_trusted_is_not_listed(collecting, keys):
    assert windows(collecting)
    (keys / "approval-key").write_bytes(bytes(32))
    assert snapshot(clock=collecting.clock)["tasks"] == []


def test_a_paused_task_lists_what_it_has_collected(collecting):
    """Devices that were asked before the pause are still waited for."""
    author = collecting.revision.author
    services.pause(task=collecting.revision.task, reason="", actor=author, clock=collecting.clock)
    assert windows(collecting) == [[FIRST]]
    collecting.go_to("2026-11-20T00:00:00")
    assert windows(collecting) == []


def test_eligibility_and_schedule_are_the_client_task_s(collecting):
    import msgspec

    (task,) = snapshot(clock=collecting.clock)["tasks"]
    client_task = msgspec.json.decode(collecting.revision.client_task_json, type=ClientTask)
    assert task["eligibility"] == msgspec.to_builtins(client_task.eligibility)
    assert task["schedule"]["conditions"] == client_task.schedule.conditions
    assert task["max_sealed"] > 48


def test_devices_that_reported_are_counted(collecting):
    queue_client().incrby("mayfly:active:all", 5)
    queue_client().incrby("mayfly:active:nowhere", 7)
    jobs.count_fleet()
    jobs.count_fleet()
    queue_client().incrby("mayfly:active:all", 2)
    jobs.count_fleet()
    assert [(row.population.name, row.count) for row in ActiveDevices.objects.all()] == [("all", 7)]


def test_nobody_counts_in_it_who_has_just_arrived(collecting, settings):
    """Anyone is told when to check in next, which it stretches."""
    settings.QUEUE_LENGTH = 20
    run, told = collecting.by_hand([FIRST], 0), []
    for count in (4, 1, 4, 6, 6):
        collecting.send(run.row, [FIRST], count)
        run.beat()
        told.append(snapshot(clock=collecting.clock)["busy"])
    assert told == [0, 0.25, 0.25, 0.75, 1]


@pytest.mark.parametrize(("beat", "lasts"), [(2, 30), (60, 240)])
def test_it_outlives_some_beats(collecting, settings, beat, lasts):
    """Else devices would be told between two of them that nothing is known."""
    settings.HEARTBEAT_SECONDS = beat
    publish_snapshot(clock=collecting.clock)
    place_sessions(clock=collecting.clock)
    for said_there in (SNAPSHOT, FINDINGS):
        assert lasts - 10 < queue_client().ttl(said_there) <= lasts
