"""Devices that send what no honest phone sends. Every update is refused, and counted by reason."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.messages import Assigned, AssignmentRequest, Wanted
from aggregation.protocol.refusal import Reason
from devices_sim.device.api_client import HttpApi, Meter
from devices_sim.device.once_only import Queued, SessionShut
from devices_sim.fleet.bad_updates import TWISTS, bad_updates, sealed, twisted, zero_update


async def attack(api: HttpApi, task: ClientTask, window: str) -> list[Reason]:
    """Send each bad update under an assignment of its own; all answers are alike."""
    sent = []
    for reason, plain in bad_updates(task, window):
        await _send(api, task, partial(sealed, plain))
        sent.append(reason)
    for twist in TWISTS:
        await _send(api, task, partial(twisted, zero_update(task, window), twist=twist))
        sent.append(Reason.CANNOT_OPEN)
    return sent


async def _send(api: HttpApi, task: ClientTask, made: Callable[[Assigned], bytes]) -> None:
    """Until a session has it. One may end in between; no answer tells anything about contents."""
    for _ in range(600):
        place = await _place(api, task)
        if place is not None:
            answer = await api.upload(
                session=place.session, update=place.update, token=place.token,
                sealed=made(place), meter=Meter(),
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
