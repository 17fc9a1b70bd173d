"""One task whose windows are collected: sessions in threads, devices that seal, and the truth.

What each device contributed is known here and nowhere else, so that sums can be compared exactly.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.db import transaction

from aggregation.protocol.ids import fresh_session_id, fresh_update_id, raw_update
from aggregation.protocol.part import Part
from aggregation.protocol.sealing import SessionKeys, seal
from aggregation.protocol.update import Shape, pack
from aggregation.protocol.windows import Window
from aggregation.sessions.receipts import has_receipt
from aggregation.sessions.session import Session as Summing
from portal import heartbeats
from portal.accounts.models import Grant, Person
from portal.audit.services import move
from portal.collection import gathering, live, placing
from portal.collection.models import Session
from portal.collection.opening import config_of, open_session
from portal.collection.run import Run
from portal.collection.running import run_session
from portal.collection.said import said
from portal.collection.selectors import outcome
from portal.ledger.services import spend
from portal.releases.models import Release
from portal.tasks import opening, services
from portal.tasks.models import TaskWindow
from portal.valkey import queue_client
from tests.parts import eventually
from tests.portal.tasks.conftest import PASSWORD

# Below MIN a sum waits in memory, from MAX on a session ends.
MIN, MAX = 100, 400

SPEC = """\
name: {name}
description: Trips by region
streams: [trips]
population: all
window: {{unit: day, grace_hours: {grace}}}
client_sql: |
  SELECT region, privacy_time_unit, COUNT(*) AS n
  FROM trips GROUP BY region, privacy_time_unit
server_sql: |
  SELECT region, privacy_time_unit, SUM(n) AS n
  FROM device_results GROUP BY region, privacy_time_unit
aggregation:
  {{min_contributions: 100, max_contributions: 400, max_session_minutes: 60, max_rows: 4}}
anonymization:
  epsilon: 0.1
  mechanism: {{kind: joint_clipping, clip: 20}}
"""
REGIONS = 12


@dataclass
class Collecting:
    """The task, its clock, its sessions in threads of this process."""

    clock: Any
    in_thread: Callable[[], Any]
    revision: Any = None
    threads: list[threading.Thread] = field(default_factory=list)
    # Workers that stop, by name.
    stopping: set[str] = field(default_factory=set)
    # Window id → what devices sent to it, cell by cell.
    truth: dict[str, np.ndarray] = field(default_factory=dict)
    # Update id → the windows it was for, and its parts.
    sent: dict[str, dict[Window, Part]] = field(default_factory=dict)

    def activate(self, name: str = "trips-by-region", *, grace: int = 48) -> Any:
        """A task that runs from the next day on."""
        ada = Person.objects.filter(username="ada").first() or someone("ada", "analyst")
        rafael = Person.objects.filter(username="rafael").first() or someone("rafael", "reviewer")
        text = SPEC.format(name=name, grace=grace)
        task = services.create_task(name=name, text=text, actor=ada, clock=self.clock)
        submitted = services.submit(task=task, version=1, actor=ada, clock=self.clock)
        self.revision = services.approve(
            revision=submitted,
            seen=submitted.content_sha256,
            password=PASSWORD,
            comment="",
            actor=rafael,
            clock=self.clock,
        )
        return self.revision

    def go_to(self, when: str) -> None:
        """Set the clock and do what the heartbeat does with windows."""
        self.clock.set(moment(when))
        for task in opening.tasks_with_due_windows(self.clock.now()):
            opening.advance_windows(task=task, clock=self.clock)

    def window(self, window_id: str) -> TaskWindow:
        return TaskWindow.objects.get(task=self.revision.task, window=window_id)

    def place(self) -> list[str]:
        heartbeats.beat("sessions@one")
        heartbeats.beat("sessions@two")
        return placing.place_sessions(clock=self.clock)

    def start(self, session: str, *, worker: str = "one") -> Session:
        """Run a session in a thread of its own, and wait until it is open."""

        def run() -> None:
            with self.in_thread():
                keeper = run_session(
                    session_id=session,
                    worker=worker,
                    clock=self.clock,
                    is_draining=lambda: worker in self.stopping,
                )
                if keeper:
                    keeper.keep()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.threads.append(thread)
        return self.until(session, "open")

    def opened(self, *, worker: str = "one") -> Session:
        """Another open session of the revision, whatever there is."""
        row = Session(id=fresh_session_id(), revision=self.revision, requested_at=datetime.now(UTC))
        row.save(force_insert=True)
        return self.start(row.pk, worker=worker)

    def by_hand(self, windows: list[str], count: int) -> Run:
        """An open session that nobody runs, with so many updates taken: for steps one by one."""
        row = Session(id=fresh_session_id(), revision=self.revision, requested_at=datetime.now(UTC))
        row.save(force_insert=True)
        keys, config = SessionKeys.fresh(), config_of(row)
        live.open_queue(row.pk)
        live.beat(row.pk)
        assert open_session(session=row, keys=keys, worker="hand", clock=self.clock)
        summing = Summing(id=row.pk, config=config, keys=keys, windows=())
        run = Run(row, config, keys, summing, self.clock, lambda: False)
        run.refresh()
        self.send(row, windows, count)
        summing.take(live.pop(row.pk, count) or [])
        return run

    def until(self, session: str, *states: str) -> Session:
        def reached() -> Session | None:
            row = Session.objects.get(pk=session)
            assert row.state in states or row.state in Session.ALIVE, row.state
            return row if row.state in states else None

        return eventually(reached)

    def send(self, session: Session, windows: list[str], count: int = 1) -> list[str]:
        """So many devices that each send one update with a part for each window; what got in."""
        shape = Shape.of(config_of(session))
        ids = []
        for _ in range(count):
            update = fresh_update_id()
            number = len(self.sent)
            parts = {
                Window.parse(one, shape.unit): _part(number + at) for at, one in enumerate(windows)
            }
            self.sent[update] = parts
            if self.push(session, update, pack(parts, shape)):
                ids.append(update)
        return ids

    def push(self, session: Session, update: str, plain: bytes) -> int:
        """Seal and append, as a device and a front end do; 0 where there is no such queue."""
        sealed = seal(
            plain,
            public=bytes.fromhex(session.public_key),
            client_task=session.revision.client_task_sha256,
            session=session.pk,
            update=update,
        )
        name = live.key(session.pk, "updates")
        return int(queue_client().rpushx(name, raw_update(update) + sealed))

    def taken(self, session: Session, count: int) -> None:
        """Wait until a session says that so many updates are in."""

        def says_so() -> bool:
            found = said([session.pk]).get(session.pk)
            return found is not None and found.status.contributions == count

        eventually(says_so, within=90)

    def count(self, updates: list[str], *windows: str) -> None:
        """These updates are expected to count in these windows."""
        for update in updates:
            for window, part in self.sent[update].items():
                if not windows or window.id in windows:
                    sums = self.truth.setdefault(window.id, np.zeros((REGIONS, 1), dtype=np.int64))
                    sums[part.ranks] += part.values

    def join(self) -> None:
        for thread in self.threads:
            thread.join(timeout=60)
            assert not thread.is_alive()


@contextmanager
def full_queues() -> Iterator[None]:
    """A Valkey that has reached its limit of memory, and takes nothing."""
    queue_client().config_set("maxmemory", 1)
    try:
        yield
    finally:
        queue_client().config_set("maxmemory", 0)


def moment(when: str) -> datetime:
    return datetime.fromisoformat(when).replace(tzinfo=UTC)


def someone(username: str, *roles: str) -> Person:
    person = Person.objects.create_user(username, password=PASSWORD)
    Grant.objects.bulk_create(Grant(person=person, role=role) for role in roles)
    return person


def _part(number: int) -> Part:
    """Each device has other cells and other values."""
    ranks = sorted({number % REGIONS, (7 * number + 3) % REGIONS})
    values = [[1 + (number * (at + 3)) % 1000] for at in range(len(ranks))]
    return Part(np.array(ranks, dtype=np.uint32), np.array(values, dtype=np.int64))


def release(collecting: Collecting, window_id: str) -> None:
    """What a release does to the window once it is gathered, with a row that says nothing."""
    window = collecting.window(window_id)
    with transaction.atomic():
        spend(task=window.task.name, windows=[window.as_window()], clock=collecting.clock)
        Release.objects.create(
            window=window, released_at=collecting.clock.now(), audience="internal", noised=b"x",
            noised_sha256="", card="", signature="",
        )  # fmt: skip
        assert move(window, to=TaskWindow.State.RELEASED, clock=collecting.clock)


def gathered_sum(collecting: Collecting, window_id: str) -> Any:
    """Gather a window, settle it, and give the exact sum."""
    window = collecting.window(window_id)
    with gathering.gather(window=window, clock=collecting.clock, within_seconds=20) as gathered:
        with transaction.atomic():
            gathering.settle(gathered, clock=collecting.clock)
        return gathered.core.report()


def counted(session_id: str, update: str) -> list[str]:
    """The windows that an update is counted in, once its session is over."""
    found = outcome(session_id)
    assert found is not None
    assert found.over
    return sorted(w for w, ids in found.receipts.items() if has_receipt(ids, update))
