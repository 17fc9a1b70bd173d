"""Parts that are away: 503 with a time, never a false 202, and all is well again afterwards."""

import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.parts import eventually
from tests.portal.device_api.front_end import FrontEnd, open_task, queue_of, running_front_end


@pytest.fixture(scope="module")
def front_end() -> Iterator[FrontEnd]:
    """One without a database; each test leaves Valkey as it was."""
    with running_front_end() as running:
        yield running


@pytest.fixture
def said(front_end: FrontEnd) -> Callable[[], str]:
    """What is in the log since the test began, once all is well."""
    front_end.publish()
    before = len(front_end.log)
    return lambda: front_end.log[before:]


@pytest.fixture
def session(front_end: FrontEnd) -> str:
    made = secrets.token_hex(16)
    front_end.open_queue(made)
    return made


def assert_away(front_end: FrontEnd, session: str) -> None:
    reply = front_end.upload(session)
    assert (reply.status, reply.code) == (503, "unavailable")
    assert int(reply.headers["retry-after"]) >= 2


def test_without_valkey_nothing_is_accepted(
    front_end: FrontEnd, session: str, said: Callable[[], str]
) -> None:
    front_end.valkey.stop()
    assert_away(front_end, session)
    reply = front_end.ask("POST", "/device/v1/active", {"version": 1, "population": "DE"})
    assert reply.status == 503
    eventually(lambda: "Open tasks cannot be read" in said())
    # It comes back empty: the session is over, and a new one can begin.
    front_end.valkey.start()
    eventually(lambda: front_end.upload(session).status == 410)
    front_end.open_queue(session)
    assert front_end.upload(session).status == 202
    front_end.publish()
    # Or ConnectionResetError, where a question was on its way.
    assert said().count("Open tasks cannot be read (Connection") == 1
    assert said().count("Open tasks can be read again.") == 1
    assert "Traceback" not in said()


def test_a_valkey_that_does_not_answer_is_not_waited_for(front_end: FrontEnd, session: str) -> None:
    process = front_end.valkey.process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    assert_away(front_end, session)
    assert time.monotonic() - began < 10  # a guard against hanging: its time is 2 s, or 4
    process.send_signal(signal.SIGCONT)
    eventually(lambda: front_end.upload(session).status == 202)


def test_whatever_was_accepted_is_in_the_queue(front_end: FrontEnd, session: str) -> None:
    """Uploads all the time while Valkey stops and goes on: each 202 is there, the rest may be."""
    process = front_end.valkey.process
    assert process is not None
    accepted: list[str] = []
    refused: list[int] = []
    done = threading.Event()

    def send() -> None:
        while not done.is_set():
            update = secrets.token_hex(8)
            status = front_end.upload(session, update=update).status
            accepted.append(update) if status == 202 else refused.append(status)

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for round_ in range(2):
        eventually(lambda n=50 * (round_ + 1): len(accepted) >= n)
        process.send_signal(signal.SIGSTOP)
        eventually(lambda n=round_ + 1: len(refused) >= n)
        process.send_signal(signal.SIGCONT)
    done.set()
    for thread in threads:
        thread.join()
    items = front_end.valkey.client.lrange(queue_of(session), 1, -1)
    assert set(refused) == {503}
    assert set(accepted) <= {item[:8].hex() for item in items}


def test_a_full_valkey_is_told_as_away(front_end: FrontEnd, session: str) -> None:
    front_end.valkey.client.config_set("maxmemory-policy", "noeviction")
    front_end.valkey.client.config_set("maxmemory", "1")
    assert_away(front_end, session)
    front_end.valkey.client.config_set("maxmemory", "0")
    assert front_end.upload(session).status == 202


def test_without_a_snapshot_nothing_is_offered_and_uploads_go_on(
    front_end: FrontEnd, session: str
) -> None:
    task = open_task()
    front_end.publish(task)
    front_end.valkey.client.delete("mayfly:snapshot")
    eventually(lambda: front_end.check_in().status == 503)
    wanted = [{"task": task["task"], "client_task": task["client_task"]}]
    body = {"version": 1, "population": "DE", "tasks": wanted}
    for path, sent in (
        ("/device/v1/assignments", body),
        ("/device/v1/active", {"version": 1, "population": "DE"}),
    ):
        reply = front_end.ask("POST", path, sent)
        assert (reply.status, reply.code) == (503, "unavailable")
        assert int(reply.headers["retry-after"]) >= 2
    assert front_end.upload(session).status == 202


def test_a_snapshot_that_is_none_is_told_once(front_end: FrontEnd, said: Callable[[], str]) -> None:
    front_end.valkey.client.set("mayfly:snapshot", b'{"tasks": "none"}')
    eventually(lambda: "Open tasks cannot be read (ValidationError)." in said())
    # The one before it is good for a while.
    assert front_end.check_in().status == 200
    front_end.publish(open_task())
    assert said().count("cannot be read") == 1


def test_without_a_database_only_what_needs_it_is_away(front_end: FrontEnd, session: str) -> None:
    task = open_task()
    front_end.publish(task)
    update = secrets.token_hex(8)
    open_session = task["sessions"][0]["id"]
    paths = {
        f"/device/v1/sessions/{session}/updates/{update}": 503,
        f"/device/v1/client-tasks/{task['client_task']}": 503,
        # Named in the snapshot: open, without a question.
        f"/device/v1/sessions/{open_session}/updates/{update}": 200,
        f"/device/v1/client-tasks/{'0' * 64}": 404,
    }
    assert {path: front_end.ask("GET", path).status for path in paths} == paths
    assert front_end.check_in().status == 200
    assert front_end.upload(session).status == 202
    assert session not in front_end.log
