"""The library: client tasks by their hash, and only such as can be run in full."""

from __future__ import annotations

import hashlib
from random import Random

import pytest

from aggregation.clock import ManualClock
from aggregation.protocol.streams import Catalog
from devices_sim.device import library
from devices_sim.device.library import Library
from devices_sim.device.phone import Phone
from devices_sim.device.refusal import Refused
from devices_sim.device.storage import MemoryStorage
from tests.aggregation.ondevice.examples import client_task
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi


def test_it_works(catalog: Catalog) -> None:
    task = client_task(catalog, epsilon="0.5")
    known = Library(catalog).add(task.sha256, task.canonical())
    assert (known.task, known.streams, known.price) == (task, ("trips",), 50)


@pytest.mark.parametrize(
    "body", [b"", b"no JSON", b"\xff", b"{}", b"[" * 100_000, b'{"version":1}'], ids=repr
)
def test_what_is_no_client_task_is_refused(catalog: Catalog, body: bytes) -> None:
    with pytest.raises(Refused, match="no client task"):
        Library(catalog).add(hashlib.sha256(body).hexdigest(), body)


def test_a_task_that_reads_nothing_is_refused(catalog: Catalog) -> None:
    task = client_task(catalog, reads={}, keys=())
    with pytest.raises(Refused, match="does not name the streams"):
        Library(catalog).add(task.sha256, task.canonical())


def test_the_task_unused_for_longest_goes_first(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "MAX_TASKS", 2)
    held = Library(catalog)
    tasks = [client_task(catalog, epsilon=epsilon) for epsilon in ("1", "2", "3")]
    for task in tasks[:2]:
        held.add(task.sha256, task.canonical())
    assert held.get(tasks[0].sha256)
    held.add(tasks[2].sha256, tasks[2].canonical())
    assert [held.get(task.sha256) is not None for task in tasks] == [True, False, True]


def test_phones_of_one_process_share_it(catalog: Catalog, clock: ManualClock, peer: Peer) -> None:
    def phone() -> Phone:
        api = DirectApi(peer)
        return Phone(MemoryStorage(), catalog, peer.pins, api, clock, Random(1), "DE")

    assert phone().library is phone().library
