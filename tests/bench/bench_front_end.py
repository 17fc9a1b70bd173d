"""Uploads that a front end takes on one core, beside an empty uvicorn handler.

Both get the same requests from the same generator, turn about. What is measured is the server's
own processor time, so that neither the generator nor Valkey counts: uploads per second of it are
what one core can take. The best round of each is taken, since others who are busy on the machine
only ever slow a round down.
"""

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aggregation.protocol.tokens import token
from tests.bench.figures import Figure
from tests.bench.uploading import send_all
from tests.portal.device_api.front_end import (
    UNPROXIED,
    FrontEnd,
    open_task,
    queue_of,
    running_front_end,
    running_uvicorn,
)

# A sealed update of 64 rows and three metrics, for one window.
BODY = secrets.token_bytes(1900)
UPLOADS, CONNECTIONS, ROUNDS = 5_000, 64, 12


def figures() -> Iterator[Figure]:
    task = open_task()
    session = task["sessions"][0]["id"]
    with (
        running_front_end(MAYFLY_QUEUE_LENGTH="10000000", MAYFLY_SNAPSHOT_SECONDS="1") as ours,
        running_uvicorn("tests.bench.empty_handler:application", *UNPROXIED) as (port, empty),
    ):
        ours.publish(task)
        requests = _requests(ours, session)
        taken, floor = [], []
        with _drained(ours, session):
            for _ in range(ROUNDS):
                taken.append(_per_core_second(ours.port, ours.process.pid, requests))
                floor.append(_per_core_second(port, empty.pid, requests))
    unit, peer = "uploads per core second", "empty uvicorn handler"
    yield Figure("front_end.upload", max(taken), max(floor), unit, peer)


def _requests(front_end: FrontEnd, session: str) -> list[bytes]:
    return [request_of(front_end, session, secrets.token_hex(8), BODY) for _ in range(UPLOADS)]


def request_of(front_end: FrontEnd, session: str, update: str, body: bytes) -> bytes:
    lines = (
        f"POST /device/v1/sessions/{session}/updates HTTP/1.1",
        "Host: 127.0.0.1",
        f"Mayfly-Update: {update}",
        f"Mayfly-Token: {token(front_end.token_key, session=session, update=update)}",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def _per_core_second(port: int, pid: int, requests: Sequence[bytes]) -> float:
    before = _processor_seconds(pid)
    statuses = send_all(port, requests, connections=CONNECTIONS)
    spent = _processor_seconds(pid) - before
    if set(statuses) != {202}:
        raise RuntimeError(f"Not every upload was accepted: {set(statuses)}.")
    return len(requests) / spent


def _processor_seconds(pid: int) -> float:
    """Of a process, all its threads: by the scheduler's own count, since a tick is 10 ms."""
    found = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in found) / 1e9


@contextmanager
def _drained(front_end: FrontEnd, session: str) -> Iterator[None]:
    """Empty the queue all the time, as a session does."""
    front_end.open_queue(session)
    stop, client = threading.Event(), front_end.valkey.client

    def drain() -> None:
        while not stop.wait(0.02):
            client.ltrim(queue_of(session), 0, 0)

    thread = threading.Thread(target=drain)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
