"""Workers outlive their broker."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from kombu import Consumer, Queue

from portal.celery import app
from portal.valkey import queue_client


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
