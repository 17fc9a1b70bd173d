"""Sessions on real workers: Celery's, in threads and in processes, stopped and killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
import redis

from aggregation.clock import SimulatedClock
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.ids import fresh_update_id, raw_update
from aggregation.protocol.part import Part
from aggregation.protocol.sealing import seal
from aggregation.protocol.update import Shape, pack
from aggregation.protocol.windows import Window
from tests.parts import ROOT, eventually, start_system

pytestmark = pytest.mark.solo

TASK = "country-modal-split"
LOOK = """
import json
from django.core.serializers.json import DjangoJSONEncoder
from portal.collection.models import *
from portal.tasks.models import TaskWindow
print(json.dumps({
  "first": list(TaskWindow.objects.filter(task__name="country-modal-split").order_by("start")
                .values("window", "end", "revision__client_task_json"))[0],
  "sessions": {row["id"]: row for row in Session.objects.filter(
      revision__task__name="country-modal-split").values("id", "state", "reason", "worker")},
  "partials": Partial.objects.count(),
  "receipts": sum(len(bytes(row.ids)) // 8 for row in Receipts.objects.all()),
  "handed_over": list(HandOver.objects.values_list("session", "successor", "received")),
}, cls=DjangoJSONEncoder))
"""


class Watched:
    """A running system as whoever runs it sees it: its clock, queue, database and processes."""

    def __init__(self, system):
        self.system = system
        self.clock = SimulatedClock(system.data / "clock.json")
        address = system.shell("from django.conf import settings; print(settings.QUEUE_URL)")
        self.queue = redis.Redis.from_url(address)
        first = self.look()["first"]
        self.client_task = json_task(first["revision__client_task_json"])
        self.window = Window.parse(first["window"], self.client_task.window_unit)

    def look(self):
        return json.loads(self.system.shell(LOOK))

    def session(self, *, but=()):
        """The open session that front ends are told of."""

        def told():
            raw = self.queue.get("mayfly:snapshot")
            tasks = json.loads(raw)["tasks"] if raw else []
            found = [s for t in tasks if t["task"] == TASK for s in t["sessions"]]
            return next((one for one in found if one["id"] not in but), None)

        return eventually(told, log=self.system.log)

    def send(self, session, count):
        """So many devices, and wait until the session has them."""
        shape = Shape.of(self.client_task)
        plain = pack({self.window: Part.zero(shape.metrics)}, shape)
        for _ in range(count):
            update = fresh_update_id()
            sealed = seal(
                plain,
                public=bytes.fromhex(session["public_key"]),
                client_task=self.client_task.sha256,
                session=session["id"],
                update=update,
            )
            name = f"mayfly:session:{session['id']}:updates"
            assert self.queue.rpushx(name, raw_update(update) + sealed)
        eventually(
            lambda: self._status(session)["contributions"] == count,
            log=self.system.log,
        )

    def _status(self, session):
        return json.loads(self.queue.get(f"mayfly:session:{session['id']}:status") or "{}")

    def until(self, condition):
        return eventually(lambda: condition(self.look()), log=self.system.log)

    def supervised_worker(self):
        """The process of the session worker that the supervisor keeps running."""
        found = subprocess.run(
            ["pgrep", "-P", str(self.system.process.pid), "-f", "sessions@%h"],
            capture_output=True, text=True, check=False,
        ).stdout.split()  # fmt: skip
        return int(found[0])


def json_task(text):
    import msgspec

    return msgspec.json.decode(text, type=ClientTask)


@pytest.fixture
def watched(prepared_data):
    data = Path(tempfile.mkdtemp(prefix="mayfly-workers-"))
    shutil.copytree(prepared_data, data, dirs_exist_ok=True)
    clock = SimulatedClock(data / "clock.json")
    clock.start(datetime.fromisoformat("2020-01-01T00:00:00+00:00"), speed=0)
    system = start_system(
        data, MAYFLY_CLOCK="simulated", MAYFLY_SESSION_LAPSE_SECONDS="2", MAYFLY_DRAIN_SECONDS="20"
    )
    try:
        eventually(system.is_ready, within=90, log=system.log)
        yield Watched(system)
    finally:
        system.stop()
        shutil.rmtree(data, ignore_errors=True)


@contextmanager
def second_worker(watched):
    """Another session worker, in processes instead of threads."""
    command = [
        sys.executable, "-m", "celery", "-A", "portal.celery", "--quiet", "worker",
        "-P", "prefork", "-Q", "sessions", "-n", "sessions@second", "-c", "2",
        "--without-gossip", "--without-mingle",
    ]  # fmt: skip
    with (watched.system.data / "second.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=watched.system.env, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    try:
        eventually(lambda: watched.queue.exists("mayfly:alive:sessions@second"))
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_sessions_survive_workers_that_stop_and_end_with_those_that_are_killed(watched):
    watched.clock.set(datetime.fromisoformat(watched.look()["first"]["end"]))
    first = watched.session()
    watched.send(first, 1200)
    with second_worker(watched) as second:
        stop_both_in_turn(watched, first, second)


def stop_both_in_turn(watched, first, second_worker):
    # The worker in threads stops: what is enough to be stored is stored.
    os.kill(watched.supervised_worker(), signal.SIGTERM)
    watched.until(lambda found: found["sessions"][first["id"]]["state"] == "flushed")
    found = watched.look()
    assert (found["sessions"][first["id"]]["reason"], found["receipts"]) == ("drain", 1200)
    assert found["partials"] == 1
    second = watched.session(but={first["id"]})
    assert watched.look()["sessions"][second["id"]]["worker"] == "sessions@second"
    watched.send(second, 30)

    # The worker in processes stops: what is small goes on to the one that came back.
    second_worker.terminate()
    watched.until(lambda found: found["sessions"][second["id"]]["state"] == "flushed")
    assert second_worker.wait(timeout=30) == 0
    third = watched.session(but={first["id"], second["id"]})
    handed_over = [second["id"], third["id"], True]
    watched.until(lambda found: handed_over in found["handed_over"])

    # That one is killed: its session is dead, another takes its place, nothing more is counted.
    os.kill(watched.supervised_worker(), signal.SIGKILL)
    watched.until(lambda found: found["sessions"][third["id"]]["state"] == "dead")
    assert watched.session(but={first["id"], second["id"], third["id"]})
    found = watched.look()
    assert (found["partials"], found["receipts"]) == (1, 1200)
