"""Bad updates: every kind of which the threat model says that it is refused, by the reason for it.

What is wrong may be inside the seal, with the seal, or with the request around it. Kinds inside
and with the seal are named by the reason a session counts them by; those around it by the code
that the front end answers.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

import numpy as np

from aggregation.protocol.anonymization import GRID
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.messages import Assigned, Code
from aggregation.protocol.refusal import Reason
from aggregation.protocol.sealing import seal
from aggregation.protocol.update import FILLER
from aggregation.protocol.update_layout import encode
from aggregation.protocol.windows import Window

SMALLEST: Final = -(2**63)
_LONG_AGO: Final = datetime(2020, 1, 8, tzinfo=UTC)
_TOO_LARGE: Final = 2**20
# Sealed for something else than where it is sent, or changed on the way.
TWISTS: Final = ("session", "update", "client_task", "tag", "key")
# Kinds that are refused before anything is queued.
AROUND: Final = frozenset({Code.BAD_TOKEN.value, Code.TOO_LARGE.value})


def bad_updates(task: ClientTask, window: str) -> Iterator[tuple[Reason, bytes]]:
    """The plain bytes of each, and why it is refused."""
    rows, metrics = task.max_rows, len(task.metrics)
    never = Window.containing(_LONG_AGO, task.window_unit).id

    def row(*first: int) -> list[int]:
        return [*first, *[0] * metrics][:metrics]

    def update(
        ranks: list[int], values: list[list[int]], windows: tuple[str, ...] = (window,)
    ) -> bytes:
        cells = np.full(rows, FILLER, dtype="<u4")
        cells[: len(ranks)] = ranks
        numbers = np.zeros((rows, metrics), dtype="<i8")
        numbers[: len(values)] = values
        many = len(windows)
        return encode(windows, [cells.tobytes()] * many, [numbers.tobytes()] * many)

    one = row(1, 1)
    fine = update([1], [one])
    yield Reason.WRONG_LENGTH, fine + b"\0"
    yield Reason.WRONG_LENGTH, fine[:-1]
    yield Reason.NOT_AN_UPDATE, secrets.token_bytes(len(fine))
    yield Reason.WRONG_VERSION, fine.replace(b"version\x01", b"version\x02")
    yield Reason.WRONG_WINDOWS, update([1], [one], (window, window))
    yield Reason.WRONG_WINDOWS, update([1], [one], (window, never))
    yield Reason.WRONG_WINDOWS, update([1], [one], ("2026-02-30",))
    yield Reason.NEVER_OPEN, update([1], [one], (never,))
    yield Reason.BAD_FILLER, update([1], [one, row(5)])
    yield Reason.BAD_FILLER, update([FILLER, 1], [row(0, 0), one])
    yield Reason.UNSORTED_RANKS, update([2, 1], [one] * 2)
    yield Reason.UNSORTED_RANKS, update([1, 1], [one] * 2)
    yield Reason.OUTSIDE_DOMAIN, update([task.cells], [one])
    yield Reason.VALUE_BEYOND_BOUND, update([1], [row(GRID + 1)])
    yield Reason.VALUE_BEYOND_BOUND, update([1], [row(SMALLEST)])
    yield Reason.VALUE_BEYOND_BOUND, update([1, 2], [row(SMALLEST), row(SMALLEST)])
    yield Reason.SUM_BEYOND_BOUND, update([1, 2], [row(GRID), row(1)])
    yield Reason.SUM_BEYOND_BOUND, update([1, 2], [row(GRID), row(-GRID)])


def zero_update(task: ClientTask, window: str) -> bytes:
    """What an honest phone sends that has nothing to tell."""
    cells = np.full(task.max_rows, FILLER, dtype="<u4")
    numbers = np.zeros((task.max_rows, len(task.metrics)), dtype="<i8")
    return encode((window,), [cells.tobytes()], [numbers.tobytes()])


def sealed(plain: bytes, place: Assigned, **other: str) -> bytes:
    """For this place, unless something else is named."""
    bound = {"client_task": place.client_task, "session": place.session, "update": place.update}
    return seal(plain, public=bytes.fromhex(place.public_key), **{**bound, **other})


def twisted(plain: bytes, place: Assigned, twist: str) -> bytes:
    """Does not open: see `TWISTS`."""
    if twist == "tag":
        whole = sealed(plain, place)
        return whole[:-1] + bytes([whole[-1] ^ 1])
    if twist == "key":
        return secrets.token_bytes(32) + sealed(plain, place)[32:]
    length = {"session": 16, "update": 8, "client_task": 32}[twist]
    return sealed(plain, place, **{twist: secrets.token_hex(length)})


Choose = Callable[[list[bytes]], bytes]


def bad_bytes(kind: str, task: ClientTask, place: Assigned, *, choose: Choose) -> bytes:
    """A sealed update of this kind, for this place."""
    window = place.windows[-1]
    fine = zero_update(task, window)
    if kind == Reason.CANNOT_OPEN:
        return choose([twisted(fine, place, twist) for twist in TWISTS])
    if kind == Code.TOO_LARGE:
        return bytes(_TOO_LARGE)
    if kind in (Reason.DUPLICATE, Code.BAD_TOKEN):
        return sealed(fine, place)
    found = [p for reason, p in bad_updates(task, window) if reason == kind]
    return sealed(choose(found), place)


KINDS: Final = frozenset(
    {
        *AROUND,
        Reason.CANNOT_OPEN.value,
        Reason.DUPLICATE.value,
        Reason.WRONG_LENGTH.value,
        Reason.NOT_AN_UPDATE.value,
        Reason.WRONG_VERSION.value,
        Reason.WRONG_WINDOWS.value,
        Reason.NEVER_OPEN.value,
        Reason.BAD_FILLER.value,
        Reason.UNSORTED_RANKS.value,
        Reason.OUTSIDE_DOMAIN.value,
        Reason.VALUE_BEYOND_BOUND.value,
        Reason.SUM_BEYOND_BOUND.value,
    }
)
