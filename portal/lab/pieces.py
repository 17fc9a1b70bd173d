"""The pieces of a study, worked off in several processes at once: it keeps a core busy for minutes.

What comes out is the same in any number of processes: pieces know nothing of each other, and their
results are given in the order of the pieces. The longest are begun first.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, TypeVar

from aggregation.errors import Problem

# Called now and then with the share that is done, 0 to 1; what it raises ends the work.
Tell = Callable[[float], None]
# The longest that nobody is asked whether to go on.
_LOOK_SECONDS: Final = 0.5
_KILL_SECONDS: Final = 2.0

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def cores() -> int:
    """How many processes this machine has room for."""
    return len(os.sched_getaffinity(0))


def worked_off(
    pieces: Sequence[Piece],
    work: Callable[[Piece, Tell], Result],
    watch: Tell,
    *,
    processes: int,
    efforts: Sequence[float] = (),
) -> list[Result]:
    """What `work` makes of each piece. `efforts` says how long each takes beside the others."""
    meter = _Meter(watch, list(efforts) or [1.0] * len(pieces))
    watch(0.0)
    helpers = min(processes, len(pieces))
    if helpers < 2:
        return [work(piece, meter.of(number)) for number, piece in enumerate(pieces)]
    return _Spread(pieces, work, meter).run(helpers)


class _Meter:
    """How far all pieces are together."""

    def __init__(self, watch: Tell, efforts: Sequence[float]) -> None:
        self._watch, self.efforts = watch, efforts
        self._shares = [0.0] * len(efforts)

    def of(self, number: int) -> Tell:
        def tell(share: float) -> None:
            self._shares[number] = max(share, self._shares[number])
            self.look()

        return tell

    def look(self) -> None:
        pairs = zip(self._shares, self.efforts, strict=True)
        self._watch(sum(share * effort for share, effort in pairs) / sum(self.efforts))


@dataclass(frozen=True)
class _Done:
    result: Any


class _Spread:
    """Helpers take one piece after another, and say how far they are through a pipe."""

    def __init__(self, pieces: Sequence[Any], work: Callable[..., Any], meter: _Meter) -> None:
        self._pieces, self._work, self._meter = pieces, work, meter
        self._results: list[Any] = [None] * len(pieces)
        longest = sorted(range(len(pieces)), key=lambda number: -meter.efforts[number])
        self._next = iter(longest)
        # What each helper is at.
        self._at: dict[Connection, int] = {}

    def run(self, helpers: int) -> list[Any]:
        with self._helpers(helpers) as ends:
            for end in ends:
                self._give(end)
            while self._at:
                heard = wait(list(self._at), _LOOK_SECONDS)
                for end in [one for one in self._at if one in heard]:
                    self._hear(end)
                self._meter.look()
        return self._results

    def _give(self, end: Connection) -> None:
        self._at.pop(end, None)
        if (number := next(self._next, None)) is not None:
            self._at[end] = number
            end.send(number)

    def _hear(self, end: Connection) -> None:
        number, said = self._at[end], _received(end)
        if isinstance(said, _Done):
            self._results[number] = said.result
            self._meter.of(number)(1.0)
            self._give(end)
        else:
            self._meter.of(number)(said)

    @contextmanager
    def _helpers(self, count: int) -> Iterator[list[Connection]]:
        """Forked, so that what is in memory need not be sent to them."""
        context = get_context("fork")
        ends: list[Connection] = []
        started: list[BaseProcess] = []
        try:
            for _ in range(count):
                here, there = context.Pipe()
                ends.append(here)
                helper = context.Process(target=self._help, args=(there, [*ends]), daemon=True)
                helper.start()
                there.close()
                started.append(helper)
            yield ends
        finally:
            for one in started:
                _end(one)

    def _help(self, there: Connection, others: Sequence[Connection]) -> None:
        """In a helper. It holds no end but its own, so it ends when nobody listens any more, and at
        once when it is told to, whatever its parent does then."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for end in others:
            end.close()
        with suppress(EOFError, BrokenPipeError, ConnectionResetError):
            while True:
                piece = self._pieces[there.recv()]
                try:
                    there.send(_Done(self._work(piece, there.send)))
                except Problem as problem:
                    there.send(problem)


def _received(end: Connection) -> Any:
    try:
        said = end.recv()
    except (EOFError, OSError):
        raise Problem("A process of the study ended before it was done.") from None
    if isinstance(said, Problem):
        raise said
    return said


def _end(helper: BaseProcess) -> None:
    helper.terminate()
    helper.join(_KILL_SECONDS)
    if helper.is_alive():
        helper.kill()
        helper.join()
