"""A scenario is a window: phones are installed, travel, and send while a fault is at work.

Then the window closes and is released without noise. A phone has a cell of its own, so the release
tells of each phone whether it was counted, and how often.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import numpy as np

from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.windows import Window
from aggregation.release.noised import Noised
from devices_sim.device.api_client import HttpApi, connected
from devices_sim.simulation.system import are_offered
from tests.faults.account import Account
from tests.faults.phones import Person, wake
from tests.faults.world import Session, World
from tests.parts import _tail
from tests.privacy.canary import rows_of

WINDOW = """
JOIN tasks_taskwindow w ON w.id = r.window_id JOIN tasks_task t ON t.id = w.task_id
WHERE t.name = ? AND w.window = ?
"""
RECEIPTS = f"SELECT r.session_id, r.ids FROM collection_receipts r {WINDOW}"
RELEASED = f"SELECT r.noised FROM releases_release r {WINDOW}"
# With its files made: what that takes in memory belongs to this window, not to the next.
RENDERED = f"""
SELECT r.id FROM releases_release r JOIN releases_rendering f ON f.release_id = r.id {WINDOW}
"""
# What the log says of it: one that was made twice would be there twice.
MADE = f"""
SELECT e.seq FROM audit_entry e JOIN releases_release r
ON e.object_type = 'release' AND e.object_id = CAST(r.id AS varchar(20)) {WINDOW}
AND e.action = 'release.made'
"""
COLLECTED = (
    f"SELECT r.id FROM (SELECT id, collects_id AS window_id FROM collection_session) r {WINDOW}"
)
A_WHILE = timedelta(minutes=5)
# More than a session needs to store them, and far fewer than it takes.
ENOUGH = 115
# Generous: nothing is asserted about time.
WITHIN_SECONDS = 300.0


@asynccontextmanager
async def a_window(
    world: World, fault: str, phones: int, *, port: int = 0, **wire: float
) -> AsyncIterator[Scenario]:
    """A window with so many phones. On leaving, it is closed, released and accounted for."""
    clock, port = world.clock, port or world.parts.port
    window = Window.containing(clock.now(), world.unit).next()
    url = f"http://127.0.0.1:{port}"
    async with connected(url) as api:
        people = [world.install(api, wire) for _ in range(phones)]
        clock.set(window.start + (window.end - window.start) / 2)
        for person in people:
            person.travel(clock.now(), world.catalog)
        if not world.parts.heard_from("sessions@"):
            world.parts.start_worker()
        made = Scenario(world, fault, window, people, api, port, world.parts.memory_mb())
        clock.set(window.end + A_WHILE)
        await made.until(world.serving, "no session serves the window")
        offered = partial(are_offered, url, [world.name], window.id, "all")
        await made.until_told(offered, "phones are not offered the window")
        yield made
        await made.close()
    world.accounts.append(made.account)
    world.secrets[fault] = made.secrets_of(people[0])


@dataclass
class Scenario:
    world: World
    fault: str
    window: Window
    people: list[Person]
    api: HttpApi
    # Of the front end that phones talk to.
    port: int
    memory_mb: float
    kills: int = 0
    # Uploads beside those of the phones.
    uploads: int = 0
    # Whether what was stored for the window outlived its time, and is gone by design.
    has_expired: bool = False
    # Whether processes that live through all faults did not: their memory is not compared.
    is_replaced: bool = False
    account: Account = field(init=False, repr=False)
    # Phones with a receipt, as the database said before the window closed.
    _flushed: set[int] | None = None
    _is_closed: bool = False

    async def until(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait for something of the system, in a thread: phones go on meanwhile."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while time.monotonic() < deadline:
            if found := await asyncio.to_thread(condition):
                return found
            await asyncio.sleep(0.05)
        raise AssertionError(self._lament(what))

    async def until_told(self, asked: Callable[[], Awaitable[bool]], what: str) -> None:
        """Wait until the system answers so."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while not await asked():
            assert time.monotonic() < deadline, self._lament(what)
            await asyncio.sleep(0.1)

    async def trickle(self, people: Sequence[Person] = ()) -> None:
        """They send a few at a time, so that one session has room for all of them."""
        people = people or self.people
        for start in range(0, len(people), 20):
            await wake(people[start : start + 20])
            await self.until(self._all_taken, "updates stay in a queue")

    async def settle(self) -> None:
        """Wake whoever has something to do, until each update is where it counts, or is counted."""
        await self.send_until(lambda: not self._unsettled(self.people), self.people)
        await self.until(self._all_taken, "updates stay in a queue")

    def awaited(self) -> list[Session]:
        """Sessions that somebody's update went to and that have not said what became of it."""
        rows = self.world.sessions()
        asked = {session for one in self.people if (session := one.waits_for())}
        found = {self.world.last(session, rows) for session in asked}
        return [one for one in found if one.is_alive]

    async def a_holder(self, people: Sequence[Person]) -> Session:
        """These send, until a session says that it holds some: that one."""
        found: list[Session] = await self.send_until(self.world.holding, people)
        return found[0]

    async def send_until(self, condition: Callable[[], Any], people: Sequence[Person]) -> Any:
        """Wake those of these who have something to do, again and again."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while not (found := await asyncio.to_thread(condition)):
            awaited = await asyncio.to_thread(self._unsettled, people)
            assert time.monotonic() < deadline, self._lament(self._restless(awaited))
            await wake(awaited)
            await asyncio.sleep(0.1)
        return found

    async def close(self) -> None:
        """The window closes and is released; every cell is compared with its phone. Once."""
        if self._is_closed:
            return
        await self.come_due()
        await self.until(self.released, "the window is not released")
        # With a beat between two looks: a second output would show.
        await self.until(self._is_rendered, "the release has no files")
        raw, made = self.released(), self.rows(MADE)
        assert raw is not None
        self.account = Account.of(self, self._counts(raw), self._flushed or set(), len(made))
        self._is_closed = True

    async def come_due(self, at: datetime | None = None) -> None:
        """All updates are where they count, and the grace of the window is over; once."""
        if self._flushed is None:
            await self.note_receipts()
            self.world.clock.set(at or self.window.end + self.world.grace + A_WHILE)

    async def note_receipts(self) -> None:
        """All updates are where they count; from now on nobody sends."""
        await self.settle()
        # Once more all ask how they fared: whoever is told a wrong thing acts on it.
        await wake(self.people)
        await self.settle()
        self._flushed = await asyncio.to_thread(self._with_receipts)

    async def being_released(self) -> None:
        """It is due, and somebody has begun to collect it."""
        await self.come_due()
        await self.until(self.is_collected, "nobody collects the window")

    def is_collected(self) -> bool:
        return bool(self.rows(COLLECTED))

    def released(self) -> bytes | None:
        found = self.rows(RELEASED)
        return bytes(found[0][0]) if found else None

    def growth_mb(self) -> float:
        return 0.0 if self.is_replaced else self.world.parts.memory_mb() - self.memory_mb

    @property
    def tried(self) -> int:
        """Uploads of the phones so far."""
        return sum(one.wire.uploads for one in self.people)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What the database says of this window: the statement ends with WINDOW."""
        return self.world.parts.rows(sql, *self._named)

    @property
    def _named(self) -> tuple[str, str]:
        return self.world.name, self.window.id

    def _is_rendered(self) -> bool:
        return bool(self.rows(RENDERED))

    def secrets_of(self, person: Person) -> list[bytes]:
        prepared = PreparedTask(self.world.task, self.world.catalog)
        bare = rows_of(prepared.execute({"trips": person.events}, self.window))
        return [*(sealed[40:72] for sealed in person.wire.seen), *bare]

    def was_dropped(self, person: Person) -> bool:
        """Whether a session that did not die has lost an update that its queue had taken."""
        sessions, earlier = self.world.sessions(), list(person.wire.queued.values())[:-1]
        return any(self.world.last(one, sessions).state != "dead" for one in earlier)

    async def kill(self, worker: str) -> None:
        """And another takes its place."""
        self.kills += 1
        await asyncio.to_thread(self.world.parts.signal, worker, signal.SIGKILL)
        self.world.parts.start_worker()

    def is_answered(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5):
            return True
        return False

    def state_of(self, session: str) -> str:
        return self.world.sessions()[session].state

    def log_says(self, words: str) -> bool:
        return words in self.world.parts.log.read_text(errors="replace")

    def _restless(self, people: Sequence[Person]) -> str:
        """How many do not come to rest, and how they are."""
        sessions = self.world.sessions()
        how: Counter[tuple[object, ...]] = Counter()
        for one in people:
            asked = one.waits_for()
            last = self.world.last(asked, sessions) if asked else None
            how[
                (
                    "quiet" if one.is_quiet else "free",
                    tuple(str(pending.stage) for pending in one.on_its_way),
                    f"{last.state} on {last.worker}" if last else "waits for nobody",
                    tuple(entry.kind for entry in one.phone.load().log)[-4:],
                )
            ] += 1
        return f"{len(people)} do not come to rest: {dict(how)}"

    def _lament(self, what: str) -> str:
        return f"{self.fault}: {what}.\n{_tail(self.world.parts.log)}"

    def _unsettled(self, people: Sequence[Person]) -> list[Person]:
        sessions = self.world.sessions()
        return [one for one in people if not self._is_settled(one, sessions)]

    def _is_settled(self, person: Person, sessions: dict[str, Session]) -> bool:
        if not person.on_its_way and person.has("counted"):
            return True
        asked = person.waits_for()
        if asked is None:
            return False
        last = self.world.last(asked, sessions)
        return last.is_alive and last.worker in self.world.parts.workers

    def _all_taken(self) -> bool:
        queue = self.world.parts.queue
        names = [f"mayfly:session:{one}:updates" for one in self.world.sessions()]
        return all(queue.llen(name) <= 1 for name in names)

    def _with_receipts(self) -> set[int]:
        """Phones whose update the database says is counted."""
        whose = {(s, u): p.number for p in self.people for u, s in p.wire.queued.items()}
        found = set()
        for session, packed in self.rows(RECEIPTS):
            ids = bytes(packed)
            updates = [ids[at : at + 8].hex() for at in range(0, len(ids), 8)]
            found |= {whose[session, one] for one in updates if (session, one) in whose}
        return found

    def _counts(self, raw: bytes) -> dict[int, int]:
        """How often each phone is in the release. Nobody else is."""
        sums, prepared = Noised.decode(raw).sums, PreparedTask(self.world.task, self.world.catalog)
        counts: dict[int, int] = {}
        for person in self.people:
            part = prepared.execute({"trips": person.events}, self.window)
            (rank,), (row,) = part.ranks.tolist(), part.values
            counts[person.number] = int(sums[rank][0] // row[0])
            assert np.array_equal(sums[rank], counts[person.number] * row)
            sums[rank] = 0
        assert not sums.any(), f"{self.fault}: somebody is counted whom nobody knows."
        return counts


def halves(people: list[Person], times: int) -> list[tuple[list[Person], list[Person]]]:
    """So many groups, each in two halves; the last takes who is left."""
    share = len(people) // times
    groups = [people[n * share : (n + 1) * share] for n in range(times - 1)]
    groups.append(people[(times - 1) * share :])
    return [(group[: len(group) // 2], group[len(group) // 2 :]) for group in groups]
