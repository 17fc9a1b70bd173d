"""Workers outlive their broker."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from kombu import Consumer, Queue

from portal import heartbeats
from portal.celery import app
from portal.valkey import queue_client
from tests.parts import ROOT, eventually


@pytest.fixture
def away(valkey: None) -> Iterator[Path]:
    """Where the broker's socket is put so that nobody finds it."""
    place = settings.VALKEY_SOCKET.with_suffix(".away")
    yield place
    if place.exists():
        place.rename(settings.VALKEY_SOCKET)


def test_a_connection_is_closed_that_holds_a_message_of_a_broker_that_is_gone(away: Path) -> None:
    """As Celery closes it when it finds its broker gone; what kombu raised ended the worker."""
    with app.connection_for_write() as writing:
        writing.SimpleQueue("unread").put("work")
    received: list[Any] = []
    connection = app.connection_for_read()
    for name in ("unread", "orders"):
        Consumer(
            connection.channel() if name == "orders" else connection.default_channel,
            queues=[Queue(name, routing_key=name)],
            callbacks=[lambda _, message: received.append(message)],
        ).consume()
    while not received:
        connection.drain_events(timeout=10)
    with suppress(TimeoutError):  # both wait for the next one
        connection.drain_events(timeout=0.1)
    settings.VALKEY_SOCKET.rename(away)
    queue_client().client_kill_filter(_type="normal", skipme=False)
    with suppress(Exception):
        connection.collect()
    connection.close()


def test_a_worker_that_is_told_many_times_at_once_to_stop_does_stop(valkey: None) -> None:
    """As the kernel tells it when a supervisor of many threads is killed."""
    command = [sys.executable, "-m", "celery", "-A", "portal.celery", "--quiet", "worker"]
    command += ["-P", "threads", "-c", "1", "-Q", "told", "-n", "told@%h", "--without-gossip"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        eventually(lambda: any(part.startswith("told@") for part in heartbeats.parts_alive()))
        for _ in range(20):
            if process.poll() is not None or not is_told(process.pid):
                break
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()


def is_told(pid: int) -> bool:
    """Again and again, until it hears no more."""
    for _ in range(1000):
        os.kill(pid, signal.SIGTERM)
    (ignored,) = [
        int(line.split()[1], 16)
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("SigIgn")
    ]
    return not ignored >> (signal.SIGTERM - 1) & 1


def test_children_share_what_a_worker_has_loaded() -> None:
    """The collector of garbage leaves it alone, and so it is not copied."""
    work = "import gc, portal.celery; from celery.signals import worker_init; "
    work += "worker_init.send(sender=None); print(len(gc.get_objects()), gc.get_freeze_count())"
    told = subprocess.run(
        [sys.executable, "-c", work], cwd=ROOT, capture_output=True, text=True, check=True
    )
    looked_at, left_alone = map(int, told.stdout.split())
    assert left_alone > 100 * looked_at
