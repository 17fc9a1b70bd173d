"""A Valkey that is away, or hangs, is waited for once, however often a page asks."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings

from portal.valkey import client_at


@pytest.fixture(autouse=True)
def in_a_thread_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test has waited for in vain is no other's business."""
    monkeypatch.setattr("portal.valkey._in_vain", threading.local())


@pytest.fixture
def hanging() -> Iterator[tuple[str, list[socket.socket]]]:
    """The address of one that takes connections and says nothing, and those that it took."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken: list[socket.socket] = []

        def take() -> None:
            while True:
                try:
                    taken.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=take, daemon=True).start()
        yield f"redis://127.0.0.1:{server.getsockname()[1]}?socket_timeout=0.2", taken
        server.shutdown(socket.SHUT_RDWR)
        for connection in taken:
            connection.close()


def test_one_that_is_away_is_waited_for_once(tmp_path: Path) -> None:
    client, began = client_at(f"unix://{tmp_path}/none.sock"), time.monotonic()
    for _ in range(20):
        with pytest.raises(redis.ConnectionError):
            client.get("a")
    assert time.monotonic() - began < 5  # 20 waits would take 15 s


def test_one_that_hangs_is_asked_once(hanging: tuple[str, list[socket.socket]]) -> None:
    address, taken = hanging
    client = client_at(address)
    for _ in range(20):
        with pytest.raises(redis.TimeoutError):
            client.get("a")
    assert len(taken) == 1


@pytest.mark.usefixtures("valkey")
def test_one_that_is_there_again_is_found_at_once(tmp_path: Path) -> None:
    place = tmp_path / "valkey.sock"
    client = client_at(f"unix://{place}")
    with pytest.raises(redis.ConnectionError):
        client.ping()
    place.symlink_to(settings.VALKEY_SOCKET)
    assert client.ping()
