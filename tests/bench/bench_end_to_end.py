"""Sealed uploads end to end: a load generator, a front end, Valkey and a session, all on 2 cores.

The clock runs from the first upload sent to the last one summed. Beside it, in the same run, the
same generator sends the same bytes to an empty uvicorn handler. Where the time goes is processor
time: of each process, per upload. On a machine that others use, only the ratios mean something.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from aggregation.protocol.ids import fresh_session_id, fresh_update_id
from aggregation.protocol.sealing import seal
from tests.bench.bench_front_end import _processor_seconds, request_of
from tests.bench.bench_session import CONFIG, _update
from tests.bench.figures import Figure, is_full
from tests.bench.uploading import send_timed
from tests.parts import ROOT, clean_environment
from tests.portal.device_api.front_end import (
    UNPROXIED,
    FrontEnd,
    open_session,
    open_task,
    running_front_end,
    running_uvicorn,
)

CONNECTIONS, BODIES = 64, 1000
EMPTY = "empty uvicorn handler"


def figures() -> Iterator[Figure]:
    count, session = 100_000 if is_full() else 10_000, fresh_session_id()
    sizes = {"MAYFLY_QUEUE_LENGTH": "10000000", "MAYFLY_SNAPSHOT_SECONDS": "1"}
    with (
        running_front_end(**sizes) as front_end,
        running_uvicorn("tests.bench.empty_handler:application", *UNPROXIED) as (port, _),
        _running_session(front_end, session, count) as (process, public),
    ):
        front_end.publish(open_task(sessions=[{**open_session(), "id": session}]))
        requests = _requests(front_end, session, public, count)
        floor, _ = _measured(port, requests)
        before = _spent(front_end)
        began = time.perf_counter()
        _, answered = _measured(front_end.port, requests)
        assert process.stdout is not None
        summed = float(process.stdout.readline())
        ours = count / (time.perf_counter() - began)
        spent = {k: v - before[k] for k, v in _spent(front_end).items()} | {"session": summed}
    yield Figure("end to end, sealed", ours, floor, "uploads/s", EMPTY)
    yield Figure("end to end, rate", ours, 10_000, "uploads/s", "at least")
    yield Figure("end to end, p50", _ms(answered, 50), 8.0, "ms", "as the prototype had")
    yield Figure("end to end, p99", _ms(answered, 99), 50.0, "ms", "at most")
    whole = sum(spent.values()) / count * 1e6
    for name, seconds in spent.items():
        cost, unit = seconds / count * 1e6, "µs of processor time per upload"
        yield Figure(f"end to end: {name}", cost, whole, unit, "all four together")


@contextmanager
def _running_session(
    front_end: FrontEnd, session: str, count: int
) -> Iterator[tuple[subprocess.Popen[str], bytes]]:
    env = {
        **clean_environment(),
        "MAYFLY_DATA": str(front_end.data),
        "MAYFLY_QUEUE_URL": front_end.valkey.url,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    command = [sys.executable, "-m", "tests.bench.session_process", session, str(count)]
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process, bytes.fromhex(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _requests(front_end: FrontEnd, session: str, public: bytes, count: int) -> list[bytes]:
    """Each sealed under an id of its own; what is inside repeats."""
    plain = [_update(n) for n in range(BODIES)]
    found = []
    for number in range(count):
        update = fresh_update_id()
        body = seal(
            plain[number % BODIES],
            public=public, client_task=CONFIG.client_task, session=session, update=update,
        )  # fmt: skip
        found.append(request_of(front_end, session, update, body))
    return found


def _measured(port: int, requests: Sequence[bytes]) -> tuple[float, list[float]]:
    """Uploads a second, and how long each took to be answered."""
    began = time.perf_counter()
    answers = send_timed(port, requests, connections=CONNECTIONS)
    rate = len(requests) / (time.perf_counter() - began)
    if any(status != 202 for status, _ in answers):
        raise RuntimeError("Not every upload was accepted.")
    return rate, [seconds for _, seconds in answers]


def _spent(front_end: FrontEnd) -> dict[str, float]:
    assert front_end.valkey.process is not None
    return {
        "load generator": _processor_seconds(os.getpid()),
        "front end": _processor_seconds(front_end.process.pid),
        "Valkey": _processor_seconds(front_end.valkey.process.pid),
    }


def _ms(seconds: Sequence[float], percent: int) -> float:
    return 1000 * statistics.quantiles(seconds, n=100)[percent - 1]
