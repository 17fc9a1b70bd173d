"""Devices that send what no honest phone sends. Every update is refused, and counted by reason."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.messages import Assigned, AssignmentRequest, Wanted
from aggregation.protocol.refusal import Reason
from aggregation.protocol.sealing import seal
from aggregation.protocol.update import FILLER
from aggregation.protocol.update_layout import encode
from devices_sim.device.api_client import HttpApi, Meter
from devices_sim.device.once_only import Queued, SessionShut

BOUND = 2**20
SMALLEST = -(2**63)


def bad_updates(task: ClientTask, window: str, other: str) -> Iterator[tuple[Reason, bytes]]:
    """The plain bytes of each, and why it is refused."""
    rows, metrics = task.max_rows, len(task.metrics)

    def update(
        ranks: list[int], values: list[list[int]], windows: tuple[str, ...] = (window,)
    ) -> bytes:
        cells = np.full(rows, FILLER, dtype="<u4")
        cells[: len(ranks)] = ranks
        numbers = np.zeros((rows, metrics), dtype="<i8")
        numbers[: len(values)] = values
        many = len(windows)
        return encode(windows, [cells.tobytes()] * many, [numbers.tobytes()] * many)

    fine = update([1], [[1, 1]])
    yield Reason.WRONG_LENGTH, fine + b"\0"
    yield Reason.WRONG_LENGTH, fine[:-1]
    yield Reason.NOT_AN_UPDATE, secrets.token_bytes(len(fine))
    yield Reason.WRONG_VERSION, fine.replace(b"version\x01", b"version\x02")
    yield Reason.WRONG_WINDOWS, update([1], [[1, 1]], (window, window))
    yield Reason.WRONG_WINDOWS, update([1], [[1, 1]], tuple(sorted((window, other))[::-1]))
    yield Reason.WRONG_WINDOWS, update([1], [[1, 1]], ("2026-02-30",))
    yield Reason.NEVER_OPEN, update([1], [[1, 1]], ("2020-01-01",))
    yield Reason.BAD_FILLER, update([1], [[1, 1], [0, 5]])
    yield Reason.BAD_FILLER, update([FILLER, 1], [[0, 0], [1, 1]])
    yield Reason.UNSORTED_RANKS, update([2, 1], [[1, 1]] * 2)
    yield Reason.UNSORTED_RANKS, update([1, 1], [[1, 1]] * 2)
    yield Reason.OUTSIDE_DOMAIN, update([task.cells], [[1, 1]])
    yield Reason.VALUE_BEYOND_BOUND, update([1], [[BOUND + 1, 0]])
    yield Reason.VALUE_BEYOND_BOUND, update([1], [[SMALLEST, 0]])
    yield Reason.VALUE_BEYOND_BOUND, update([1, 2], [[SMALLEST, 0], [SMALLEST, 0]])
    yield Reason.SUM_BEYOND_BOUND, update([1], [[BOUND, 1]])
    yield Reason.SUM_BEYOND_BOUND, update([1, 2], [[BOUND, 0], [-BOUND, 0]])


async def attack(api: HttpApi, task: ClientTask, window: str, other: str) -> list[Reason]:
    """Send each bad update under an assignment of its own; all answers are alike."""
    sent = []
    for reason, plain in bad_updates(task, window, other):
        await _send(api, task, partial(_sealed, plain))
        sent.append(reason)
    fine = next(plain for reason, plain in bad_updates(task, window, other))[:-1]
    for twist in ("session", "update", "client_task", "tag", "key"):
        await _send(api, task, partial(_twisted, fine, twist=twist))
        sent.append(Reason.CANNOT_OPEN)
    return sent


async def _send(api: HttpApi, task: ClientTask, sealed: Callable[[Assigned], bytes]) -> None:
    """Until a session has it. One may end in between; no answer tells anything about contents."""
    for _ in range(600):
        place = await _place(api, task)
        if place is not None:
            answer = await api.upload(
                session=place.session, update=place.update, token=place.token,
                sealed=sealed(place), meter=Meter(),
            )  # fmt: skip
            if answer != SessionShut():
                assert answer == Queued()
                return
        await asyncio.sleep(0.1)
    raise AssertionError("No session took a bad update.")


async def _place(api: HttpApi, task: ClientTask) -> Assigned | None:
    wanted = Wanted(task="journey", client_task=task.sha256)
    request = AssignmentRequest(version=1, population="all", tasks=(wanted,))
    (place,) = (await api.assignments(request, Meter())).assignments
    return place if isinstance(place, Assigned) else None


def _sealed(plain: bytes, place: Assigned, **other: str) -> bytes:
    bound = {"client_task": place.client_task, "session": place.session, "update": place.update}
    return seal(plain, public=bytes.fromhex(place.public_key), **{**bound, **other})


def _twisted(plain: bytes, place: Assigned, twist: str) -> bytes:
    if twist == "tag":
        return _sealed(plain, place)[:-1] + b"\0"
    if twist == "key":
        return secrets.token_bytes(32) + _sealed(plain, place)[32:]
    length = {"session": 16, "update": 8, "client_task": 32}[twist]
    return _sealed(plain, place, **{twist: secrets.token_hex(length)})
