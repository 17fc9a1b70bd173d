"""How often and how long: counted in this process's memory, added up for all of them in Valkey.

No request or job waits for it: a thread of this process writes what is new about once a second.
While Valkey is away counts stay here; when it comes back empty they begin again at nothing, as
counters may. Labels name addresses, jobs and outcomes, which are few; never a person, a device, an
update or a task of somebody.
"""

import atexit
import json
import os
import threading
from collections import Counter
from dataclasses import dataclass, field

import redis

from portal.valkey import queue_client, queue_hash

HASH = "mayfly:measured"
EVERY_SECONDS = 1.0
# The longest that an ending process waits for its last counts to be written.
END_SECONDS = 2.0
# Upper bounds of the classes that durations fall into.
BOUNDS_SECONDS = (0.1, 0.3, 1.0, 3.0, 10.0, 60.0)
_COUNT, _MICROSECONDS = "count", "µs"

Labels = tuple[tuple[str, str], ...]


@dataclass
class Measured:
    """One name with one set of labels, over all processes."""

    count: int = 0
    seconds: float = 0.0
    # How many took no longer than each bound.
    within: dict[float, int] = field(default_factory=lambda: dict.fromkeys(BOUNDS_SECONDS, 0))


class _Counting:
    """What this process has counted and not written yet, and the thread that writes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._fresh: Counter[str] = Counter()
        self._writer: threading.Thread | None = None
        self._is_over = threading.Event()

    def add(self, numbers: dict[str, int]) -> None:
        with self._lock:
            self._fresh.update(numbers)
            if self._writer is None:
                self._writer = threading.Thread(target=self._go_on, name="measuring", daemon=True)
                self._writer.start()

    def write(self) -> None:
        """All that was counted before is written, or kept here, when this returns: one thread
        writes at a time, and the next waits for it."""
        with self._writing:
            with self._lock:
                fresh, self._fresh = self._fresh, Counter()
            if fresh and not _is_written(fresh):
                with self._lock:
                    self._fresh.update(fresh)

    def _go_on(self) -> None:
        while not self._is_over.wait(EVERY_SECONDS):
            self.write()
        self.write()

    def end(self) -> None:
        """The writer goes before the interpreter does, if it can: cut off in the middle of
        something, it could keep a lock that the interpreter waits for."""
        self._is_over.set()
        if self._writer:
            self._writer.join(END_SECONDS)

    def begin_anew(self) -> None:
        """A forked child has none of its parent's threads; its parent writes what was counted."""
        self.__init__()  # type: ignore[misc]


def _is_written(numbers: Counter[str]) -> bool:
    pipe = queue_client().pipeline(transaction=True)
    for name, number in numbers.items():
        pipe.hincrby(HASH, name, number)
    try:
        pipe.execute()
    except (redis.RedisError, OSError):
        return False
    return True


_here = _Counting()
atexit.register(_here.end)
os.register_at_fork(after_in_child=_here.begin_anew)


def count(what: str, **labels: str) -> None:
    """It happened once more."""
    _here.add({_field(what, labels, _COUNT): 1})


def took(what: str, seconds: float, **labels: str) -> None:
    """It happened, and took so long."""
    parts = {_COUNT: 1, _MICROSECONDS: round(1e6 * seconds)}
    bound = next((bound for bound in BOUNDS_SECONDS if seconds <= bound), None)
    if bound is not None:
        parts[str(bound)] = 1
    _here.add({_field(what, labels, part): number for part, number in parts.items()})


def write() -> None:
    """Add what is new to what all processes have counted; keep it if nobody takes it."""
    _here.write()


def measured() -> dict[str, dict[Labels, Measured]]:
    """Everything that was counted, by name and labels. Raises what Valkey raises."""
    found: dict[str, dict[Labels, Measured]] = {}
    for raw, number in queue_hash(HASH).items():
        what, labels, part = json.loads(raw)
        key = tuple((str(name), str(value)) for name, value in labels)
        _note(found.setdefault(what, {}).setdefault(key, Measured()), part, int(number))
    return found


def _note(one: Measured, part: str, number: int) -> None:
    if part == _COUNT:
        one.count = number
    elif part == _MICROSECONDS:
        one.seconds = number / 1e6
    else:
        # Stored bucket by bucket; reported as "no longer than", as Prometheus has histograms.
        for bound in BOUNDS_SECONDS:
            if bound >= float(part):
                one.within[bound] = one.within.get(bound, 0) + number


def _field(what: str, labels: dict[str, str], part: str) -> str:
    return json.dumps([what, sorted(labels.items()), part], ensure_ascii=False)
