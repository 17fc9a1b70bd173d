"""Jobs on a real worker: their ids in its log, and since when one keeps failing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from portal import heartbeats, measuring, observing_jobs, tracing
from portal.celery import app
from tests.parts import ROOT, eventually

pytestmark = pytest.mark.usefixtures("valkey")
QUEUE = "observed"
FAILS = "collection.run_session"  # of a session that nobody knows, with an argument too many


@pytest.fixture(scope="module")
def worker(valkey, tmp_path_factory) -> Path:
    """A worker for a queue of this test alone, that logs JSON to a file."""
    log = tmp_path_factory.mktemp("worker") / "log"
    env = {**os.environ, "MAYFLY_LOG_FORMAT": "json", "MAYFLY_LOG_LEVEL": "INFO"}
    command = [sys.executable, "-m", "celery", "-A", "portal.celery", "--quiet", "worker"]
    command += ["-P", "threads", "-c", "1", "-Q", QUEUE, "-n", f"{QUEUE}@%h", "--without-gossip"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=out, stderr=out)
    eventually(lambda: any(p.startswith(f"{QUEUE}@") for p in heartbeats.parts_alive()), log=log)
    yield log
    process.kill()
    process.wait()


def lines(log: Path) -> list[dict]:
    found = []
    for line in log.read_text().splitlines():
        if line.startswith("{"):
            found.append(json.loads(line))
    return found


def test_a_failing_job_is_told_with_its_id_until_it_succeeds(worker):
    with tracing.tracing(tracing.Trace(request="request-of-a-test")):
        sent = app.send_task(FAILS, args=["a", "b"], queue=QUEUE)
    (found,) = eventually(lambda: [f for f in observing_jobs.failing() if f.name == FAILS])
    assert (found.job, found.times) == (sent.id, 1)
    told = eventually(lambda: [one for one in lines(worker) if one.get("job") == sent.id])
    assert told[0]["job_name"] == FAILS
    assert told[0]["request"] == "request-of-a-test"
    assert "TypeError" in told[0]["error"]
    again = app.send_task(FAILS, args=["a", "b"], queue=QUEUE)
    more = eventually(lambda: [f for f in observing_jobs.failing() if f.job == again.id])
    assert (more[0].times, more[0].since) == (2, found.since)
    measuring.queue_client().hset(
        observing_jobs.FAILING, "pages.heartbeat", '{"since": 1, "job": "x", "times": 3}'
    )
    app.send_task("pages.heartbeat", queue=QUEUE)
    eventually(lambda: "pages.heartbeat" not in [f.name for f in observing_jobs.failing()])
    eventually(lambda: measuring.measured().get("job", {}).get(_labels("succeeded")))
    measuring.queue_client().hdel(observing_jobs.FAILING, FAILS)


def test_a_question_that_fails_is_told_and_the_others_are_asked_all_the_same(worker):
    """And measured, each under its own name: the message that carried them is nobody's work."""
    hears = "notifications.tell_of_new_entries"  # asks the database, which this worker has not
    before = measuring.measured().get("job", {}).get(_labels("succeeded"))
    failed = '{"since": 1, "job": "x", "times": 3}'
    measuring.queue_client().hset(observing_jobs.FAILING, "pages.heartbeat", failed)
    app.send_task("pages.ask", args=[[hears, "pages.heartbeat"]], queue=QUEUE)
    (found,) = eventually(lambda: [f for f in observing_jobs.failing() if f.name == hears])
    (told,) = eventually(lambda: [one for one in lines(worker) if one.get("job") == found.job])
    assert told["job_name"] == hears
    assert "no such table" in told["error"]
    eventually(lambda: measuring.measured()["job"].get(_labels("succeeded")) != before)
    eventually(lambda: [f.name for f in observing_jobs.failing()] == [hears])
    assert not [labels for labels in measuring.measured()["job"] if ("job", "pages.ask") in labels]
    measuring.queue_client().hdel(observing_jobs.FAILING, hears)


def _labels(outcome: str) -> tuple[tuple[str, str], ...]:
    return (("job", "pages.heartbeat"), ("outcome", outcome))


def test_settings_have_text_by_default():
    assert settings.LOG_FORMAT == "text"
