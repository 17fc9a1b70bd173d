"""The snapshot: every open task with its sessions, as `portal.collection` publishes it.

It is published every heartbeat into Valkey and read here once a second, so that no request asks
the database. `View` is one snapshot made ready for questions.
"""

from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from aggregation.protocol.approval import Approval
from aggregation.protocol.client_task import Eligibility, Schedule
from aggregation.protocol.sealing import MAX_SEALED
from aggregation.protocol.windows import Unit
from portal.collection import live
from portal.device_api.answers import Answer
from portal.tasks.models import EVERYONE


class OpenSession(msgspec.Struct, frozen=True):
    id: str
    public_key: str
    signature: str
    # 0 idle, 1 takes no more.
    load: float


class OpenTask(msgspec.Struct, frozen=True):
    """One revision with windows to be sent for."""

    task: str
    client_task: str
    populations: tuple[str, ...]
    window_unit: Unit
    windows: tuple[str, ...]
    eligibility: Eligibility
    schedule: Schedule
    approval: Approval
    signature: str
    key_id: str
    # Bytes of the longest sealed update.
    max_sealed: int
    sessions: tuple[OpenSession, ...]

    def is_for(self, population: str) -> bool:
        return EVERYONE in self.populations or population in self.populations

    @property
    def sole_population(self) -> str:
        """The one it runs on; empty if there are several, and an upload does not say which."""
        several = len(self.populations) != 1 or EVERYONE in self.populations
        return "" if several else self.populations[0]


class Snapshot(msgspec.Struct, frozen=True):
    at: str
    populations: frozenset[str]
    tasks: tuple[OpenTask, ...]
    # Civil seconds until a window of any task opens, and for how long that one will be open.
    next_due_seconds: float | None
    busy: float
    next_due_open_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where updates for one session go."""

    queue: str
    # Bytes of the longest one.
    most: int
    # Whose they are counted as; empty if there are several populations, or nobody knows.
    population: str

    @classmethod
    def of(cls, session: str, task: OpenTask | None) -> "Place":
        """A session that is not in the snapshot (yet) has a queue, or it has not."""
        queue = live.key(session, "updates")
        if task is None:
            return cls(queue, MAX_SEALED, "")
        return cls(queue, min(task.max_sealed, MAX_SEALED), task.sole_population)


@dataclass(frozen=True)
class View:
    snapshot: Snapshot
    # Answers to check-ins, by population: the same for every device of one.
    offers: dict[str, Answer] = field(default_factory=dict)

    def tasks_for(self, population: str) -> list[OpenTask]:
        return [task for task in self.snapshot.tasks if task.windows and task.is_for(population)]

    @cached_property
    def task_of_session(self) -> dict[str, OpenTask]:
        return {s.id: task for task in self.snapshot.tasks for s in task.sessions}

    @cached_property
    def places(self) -> dict[str, "Place"]:
        """Where updates for each session go."""
        return {session: Place.of(session, task) for session, task in self.task_of_session.items()}

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest update of any open task."""
        return max((task.max_sealed for task in self.snapshot.tasks), default=MAX_SEALED)

    @cached_property
    def client_tasks(self) -> frozenset[str]:
        return frozenset(task.client_task for task in self.snapshot.tasks)


_decoder = msgspec.json.Decoder(Snapshot)


def read_snapshot(raw: bytes) -> View:
    """Raises msgspec.MsgspecError where it is no snapshot."""
    return View(_decoder.decode(raw))
