"""Devices asked in several processes at once: a million queries keep one core busy for minutes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Final

import numpy as np

from aggregation.errors import Problem
from aggregation.ondevice.bounding import Rows

# The query's results of devices first … end − 1.
Work = Callable[[int, int], Rows]
Span = tuple[int, int]
# Devices asked at a time: whole blocks of the made-up world.
_DEVICES: Final = 5120


def spread(count: int, work: Work, watch: Callable[[float], None], *, processes: int) -> Rows:
    """Results of all devices, in their order."""
    spans = [(first, min(first + _DEVICES, count)) for first in range(0, count, _DEVICES)]
    watch(0.0)
    found = []
    for rows in _results(spans, work, min(processes, len(spans))):
        found.append(rows)
        watch(len(found) / len(spans))
    return _joined(found)


def _results(spans: Sequence[Span], work: Work, processes: int) -> Iterator[Rows]:
    if processes < 2:
        yield from (work(*span) for span in spans)
        return
    # Forked, so that what is in memory need not be sent to them.
    context, ends, helpers = get_context("fork"), [], []
    for number in range(processes):
        here, there = context.Pipe(duplex=False)
        ends.append(here)
        stripe = spans[number::processes]
        helper = context.Process(
            target=_helper, args=(work, stripe, there, tuple(ends)), daemon=True
        )
        helper.start()
        there.close()
        helpers.append(helper)
    try:
        for number in range(len(spans)):
            yield _received(ends[number % processes])
    finally:
        for helper in helpers:
            helper.terminate()


def _received(end: Connection) -> Rows:
    try:
        found = end.recv()
    except EOFError:
        raise Problem("A process that asked devices ended before it was done.") from None
    if isinstance(found, BaseException):
        raise found
    rows: Rows = found
    return rows


def _helper(
    work: Work, stripe: Sequence[Span], there: Connection, others: Sequence[Connection]
) -> None:
    """Holds no end to read from: it ends when nobody reads what it sends."""
    for end in others:
        end.close()
    parent = os.getppid()
    with suppress(BrokenPipeError):
        try:
            for span in stripe:
                if os.getppid() != parent:
                    return
                there.send(work(*span))
        except Problem as problem:
            there.send(problem)


def _joined(parts: Sequence[Rows]) -> Rows:
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    return Rows(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([part.ranks for part in parts]),
        np.concatenate([part.values for part in parts]),
    )
