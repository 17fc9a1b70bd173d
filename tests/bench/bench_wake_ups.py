"""What a phone's wake-up costs its processor, beside the least that its calls could.

Each phone asks after last week's update, checks in, gets an assignment, runs its query over ten
trips in a fresh SQLite, bounds, seals, stores and uploads: over HTTP, to a real front end in a
process of its own. As in a fleet, phones share connections, which are kept, and rubbish is looked
for seldom. The floor does as many round trips with an empty handler and no parser, one
bare query in a fresh SQLite, and one bare seal. Processor time of this process, in turns, the least
of several rounds: others on the machine only ever make a round dearer.
"""

import asyncio
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import uvloop
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from aggregation.clock import ManualClock
from aggregation.ondevice.bounding import bound_one
from aggregation.protocol.messages import Assigned, AssignmentRequest, CheckIn, Wanted
from aggregation.protocol.sealing import SessionKeys, seal
from aggregation.protocol.shipped import shipped_catalog
from aggregation.protocol.update import pack
from devices_sim.device.api_client import DeviceApi, HttpApi, Meter
from devices_sim.device.http import Http
from devices_sim.device.library import Known, Library
from devices_sim.device.phone import Phone
from devices_sim.device.state import from_bytes, to_bytes
from devices_sim.device.storage import MemoryStorage
from devices_sim.device.verification import Pins
from devices_sim.fleet.driver import settle_memory
from tests.aggregation.ondevice.examples import WEEK, WEEKLY_TRIPS, client_task, trip
from tests.bench.figures import Figure
from tests.bench.uploading import send_all
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi
from tests.portal.device_api.front_end import (
    UNPROXIED,
    FrontEnd,
    running_front_end,
    running_uvicorn,
)
from tests.portal.device_api.signed import signed_task

PHONES, AT_ONCE, ROUNDS, CALLS = 400, 64, 15, 4
# As the phones of a simulation.
AHEAD = 16
NEXT = WEEK.next()
CATALOG = shipped_catalog(regions=[str(n) for n in range(1001, 1013)], countries=["DE", "FR"])
CLOCK = ManualClock(WEEK.start)
CHANCE = Random(1)
WAYS = [("driving", "within"), ("walking", "within"), ("bus", "inbound")]
TRIPS = [
    trip(after=timedelta(days=7, hours=5 * n), activity=WAYS[n % 3][0], direction=WAYS[n % 3][1])
    for n in range(10)
]

# Works on so many phones, and gives nothing.
Work = Callable[[], object]


def figures() -> Iterator[Figure]:
    peer = Peer(CLOCK)
    approved_at = WEEK.start - timedelta(days=1)
    revision = peer.add("weekly-trips", client_task(CATALOG), approved_at=approved_at)
    library = Library(CATALOG)
    known = library.add(revision.sha256, revision.body)
    blob, before = _a_week_old(peer, library)
    keys, session = SessionKeys.fresh(), secrets.token_hex(16)
    pins = peer.pins
    settle_memory()
    with (
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        running_front_end(MAYFLY_QUEUE_LENGTH="10000000") as front_end,
        running_uvicorn("tests.bench.empty_handler:application", *UNPROXIED) as (port, _),
    ):
        for one in (before, session):
            front_end.open_queue(one)
        front_end.publish(
            signed_task(peer, keys, session, NEXT),
            {**signed_task(peer, keys, before, WEEK), "task": "last-week"},
        )
        CLOCK.set(NEXT.end + timedelta(hours=1))
        api = HttpApi(Http(f"http://127.0.0.1:{front_end.port}", ahead=AHEAD))
        costs = _costs(
            {
                "wake-up": lambda: runner.run(_all_woken(api, pins, library, blob)),
                "calls": lambda: _sent(port),
                "query": lambda: [_bare_query() for _ in range(PHONES)],
                "seal": _bare_seal(),
                "its 4 calls": lambda: runner.run(_all_called(api, before)),
                **_parts(known, blob),
            }
        )
        server = _server_cost(front_end, lambda: runner.run(_all_woken(api, pins, library, blob)))
    ours, calls, query, seal = (costs.pop(name) for name in ("wake-up", "calls", "query", "seal"))
    floor, unit = calls + query + seal, "µs per wake-up"
    beside = "bare: 4 round trips, query, seal"
    yield Figure("wake-up", ours, floor, unit, beside)
    for name, cost in {"4 bare round trips": calls, "bare query": query, "bare seal": seal}.items():
        yield Figure(f"wake-up, floor: {name}", cost, floor, unit, beside)
    for name, cost in costs.items():
        yield Figure(f"wake-up: {name}", cost, floor, unit, beside)
    rest = ours - sum(costs.values())
    yield Figure("wake-up: the rest, and cold caches", rest, floor, unit, beside)
    yield Figure("wake-up: the front end", server, floor, unit, beside)
    yield Figure("wake-ups per second per core", 1e6 / ours, 1500, "wake-ups/s", "at least")


def _a_week_old(peer: Peer, library: Library) -> tuple[bytes, str]:
    """A phone's state with an update on its way and a week of trips, and that update's session."""
    phone = _phone(DirectApi(peer), peer.pins, library, None)
    phone.set_consent("trips", True)
    phone.record("trips", trip())
    CLOCK.set(WEEK.end + timedelta(hours=1))
    asyncio.run(phone.wake_up())
    phone.record("trips", *TRIPS)
    blob = phone.storage.load()
    assert blob is not None
    return blob, phone.load().pending[0].session


def _parts(known: Known, blob: bytes) -> dict[str, Work]:
    """What one wake-up does, part by part, each on its own again and again."""
    state, task = from_bytes(blob), known.prepared
    assert state is not None
    rows = {name: list(each.rows(state.events[name], NEXT)) for name, each in task._loaders.items()}
    found = task._sandbox.run(rows, columns=task._columns)
    ranks, values = task._contract(found, NEXT.id)
    bounded = bound_one(task._arithmetic, ranks, values, max_rows=task._max_rows)
    plain, public = pack({NEXT: bounded}, known.shape), SessionKeys.fresh().public
    ids = {"client_task": "ab" * 32, "session": "cd" * 16, "update": "ef" * 8}
    works: dict[str, Work] = {
        "events into SQLite, the query": lambda: task._sandbox.run(rows, columns=task._columns),
        "cells of its rows": lambda: task._contract(found, NEXT.id),
        "bounding": lambda: bound_one(task._arithmetic, ranks, values, max_rows=task._max_rows),
        "packing": lambda: pack({NEXT: bounded}, known.shape),
        "sealing": lambda: seal(plain, public=public, **ids),
        "reading and writing its state": lambda: (
            from_bytes(blob), to_bytes(state), to_bytes(state)
        ),
    }  # fmt: skip
    return {name: _often(work) for name, work in works.items()}


def _often(work: Work) -> Work:
    return lambda: [work() for _ in range(PHONES)]


def _server_cost(front_end: FrontEnd, woken: Work) -> float:
    """Microseconds of the front end's processor for a phone; its clock has ticks of 10 ms."""
    times, began = 5, _processor_seconds(front_end.process.pid)
    for _ in range(times):
        woken()
    return (_processor_seconds(front_end.process.pid) - began) / times / PHONES * 1e6


def _processor_seconds(pid: int) -> float:
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _phone(api: DeviceApi, pins: Pins, library: Library, blob: bytes | None) -> Phone:
    parts = (CATALOG, pins, api, CLOCK, CHANCE, "DE")
    return Phone(MemoryStorage(blob), *parts, library=library, log_entries=8)


async def _all_woken(api: DeviceApi, pins: Pins, library: Library, blob: bytes) -> None:
    """A few at a time, each after the other, as the driver does."""
    left = iter(range(PHONES))

    async def turns() -> None:
        for _ in left:
            did = await _phone(api, pins, library, blob).wake_up()
            if not did.sent or did.stopped or did.on_their_way != 2:
                raise RuntimeError("Not every phone sent an update.")

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(turns())


async def _all_called(api: DeviceApi, before: str) -> None:
    """The calls of a wake-up alone, by the phone's own client, their answers read."""
    left = iter(range(PHONES))
    update, sealed = secrets.token_hex(8), bytes(1891)

    async def turns() -> None:
        for _ in left:
            meter = Meter()
            await api.status(session=before, update=update, meter=meter)
            offers = await api.check_in(CheckIn(version=1, population="DE"), meter)
            wanted = tuple(
                Wanted(task=o.task, client_task=o.client_task)
                for o in offers.tasks
                if o.task == "weekly-trips"
            )
            request = AssignmentRequest(version=1, population="DE", tasks=wanted)
            [given] = (await api.assignments(request, meter)).assignments
            assert isinstance(given, Assigned)
            await api.upload(
                session=given.session,
                update=given.update,
                token=given.token,
                sealed=sealed,
                meter=meter,
            )

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(turns())


_REQUEST = b"POST /device/v1/check-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 31\r\n\r\n"
_REQUESTS = [_REQUEST + b'{"version":1,"population":"DE"}'] * (CALLS * PHONES)


def _sent(port: int) -> None:
    send_all(port, _REQUESTS, connections=AT_ONCE)


_ROWS = [(NEXT.id, *event.values) for event in TRIPS]


def _bare_query() -> list[Any]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute(
            "CREATE TABLE trips (privacy_time_unit TEXT, region TEXT, country TEXT, activity TEXT,"
            " direction TEXT, distance_km REAL, duration_min REAL)"
        )
        connection.executemany("INSERT INTO trips VALUES (?, ?, ?, ?, ?, ?, ?)", _ROWS)
        return connection.execute(WEEKLY_TRIPS).fetchall()


def _bare_seal() -> Work:
    suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
    public, plain, info = X25519PrivateKey.generate().public_key(), bytes(1843), bytes(72)
    return lambda: [suite.encrypt(plain, public, info=info) for _ in range(PHONES)]


def _costs(works: dict[str, Work]) -> dict[str, float]:
    """Microseconds a phone; in turns, so that all meet the same."""
    spent: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            began = time.process_time()
            work()
            spent[name].append(time.process_time() - began)
    return {name: min(own) / PHONES * 1e6 for name, own in spent.items()}
