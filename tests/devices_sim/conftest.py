"""A phone, an honest server, and a clock for each test."""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from aggregation.clock import ManualClock
from aggregation.protocol.streams import Catalog
from devices_sim.device.library import Library
from devices_sim.device.phone import Phone
from devices_sim.device.storage import MemoryStorage
from tests.aggregation.ondevice.examples import WEEK, client_task
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi


@pytest.fixture
def clock() -> ManualClock:
    """At the first moment of the week that examples are about."""
    return ManualClock(WEEK.start)


@pytest.fixture
def peer(clock: ManualClock, catalog: Catalog) -> Peer:
    """Runs weekly-trips, approved a day before the week."""
    peer = Peer(clock)
    peer.add("weekly-trips", client_task(catalog), approved_at=WEEK.start - timedelta(days=1))
    return peer


MakePhone = Callable[..., Phone]


@pytest.fixture
def make_phone(catalog: Catalog, clock: ManualClock, peer: Peer) -> MakePhone:
    """Phones that agreed to trips; with `storage` given, one that starts again."""

    def make(storage: Any = None, **parts: Any) -> Phone:
        agrees = parts.pop("agrees", True)
        phone = Phone(
            MemoryStorage() if storage is None else storage,
            catalog,
            parts.pop("pins", peer.pins),
            parts.pop("api", None) or DirectApi(peer),
            parts.pop("clock", clock),
            parts.pop("rng", None) or Random(1),
            parts.pop("population", "DE"),
            library=parts.pop("library", None) or Library(catalog),
            **parts,
        )
        if agrees and storage is None:
            phone.set_consent("trips", True)
        return phone

    return make
