"""A front end stops when it is told to, whatever it is doing."""

import asyncio
import os
import secrets
import signal
import time

import pytest

from portal.device_api.parts import Parts
from tests.parts import eventually
from tests.portal.device_api.front_end import FrontEnd, running_front_end


def assert_stops(front_end: FrontEnd) -> None:
    began = time.monotonic()
    front_end.process.send_signal(signal.SIGTERM)
    front_end.process.wait(timeout=15)
    assert time.monotonic() - began < 5
    assert "Traceback" not in front_end.log


def test_with_nothing_to_do_it_stops_at_once() -> None:
    with running_front_end() as front_end:
        front_end.publish()
        assert_stops(front_end)
        assert front_end.log == ""


def test_told_many_times_at_once_it_stops() -> None:
    """As the kernel tells it when a supervisor of many threads is killed."""
    with running_front_end() as front_end:
        front_end.publish()
        for _ in range(50_000):
            os.kill(front_end.process.pid, signal.SIGTERM)
        assert_stops(front_end)
        assert front_end.log == ""


@pytest.mark.solo
def test_a_body_that_does_not_come_does_not_keep_it() -> None:
    with running_front_end() as front_end:
        session = secrets.token_hex(16)
        waiting = [front_end.begin_upload(session, 5000) for _ in range(5)]
        eventually(lambda: front_end.upload(session).status == 410)
        assert_stops(front_end)
        for one in waiting:
            assert one.recv(100).startswith(b"HTTP/1.1 503 ")
            one.close()


@pytest.mark.solo
def test_a_valkey_that_does_not_answer_does_not_keep_it() -> None:
    with running_front_end() as front_end:
        front_end.publish()
        process = front_end.valkey.process
        assert process is not None
        process.send_signal(signal.SIGSTOP)
        assert_stops(front_end)


def test_it_starts_without_a_valkey_and_finds_it_later() -> None:
    with running_front_end(MAYFLY_QUEUE_URL="unix:///nowhere/valkey.sock") as front_end:
        assert front_end.check_in().status == 503
        assert_stops(front_end)


def test_told_while_it_connects_to_valkey_it_stops(valkey: None) -> None:
    """The client that connects may take the word for its own, and go on."""

    async def stopped_at(turn: int) -> None:
        parts = Parts.start()
        for _ in range(turn):
            await asyncio.sleep(0)
        async with asyncio.timeout(10):
            await parts.stop()

    for turn in range(20):
        asyncio.run(stopped_at(turn))
