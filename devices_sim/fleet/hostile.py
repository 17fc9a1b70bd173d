"""A hostile phone: knows the protocol, and sends what no honest phone sends.

It asks and is assigned like any other: it is told nothing that tells it from them. Each time it
wakes up it sends one bad update of its kind for each task that is open.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

import msgspec

from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.messages import (
    VERSION,
    Assigned,
    AssignmentRequest,
    CheckIn,
    Code,
    Wanted,
)
from aggregation.protocol.refusal import Reason
from devices_sim.device.api_client import Busy, Meter, NotReached
from devices_sim.device.wake_up import BUSY, NO_ANSWER, WakeUp
from devices_sim.fleet.bad_updates import bad_bytes
from devices_sim.fleet.report import Report

if TYPE_CHECKING:
    from devices_sim.fleet.driver import Parts

# Civil seconds until it comes again: it keeps to no hint.
_REST: Final = 3600.0


async def attack(kind: str, population: str, parts: Parts, report: Report) -> WakeUp:
    did = WakeUp(not_before=parts.now() + _REST)
    try:
        for place in await _places(population, parts, did.meter):
            await _send(kind, place, parts, did.meter)
            report.bad[kind] += 1
        did.checked_in = True
    except Busy:
        did.stopped = BUSY
    except NotReached:
        did.stopped = NO_ANSWER
    return did


async def _places(population: str, parts: Parts, meter: Meter) -> list[Assigned]:
    offers = await parts.api.check_in(CheckIn(version=VERSION, population=population), meter)
    wanted = tuple(Wanted(task=o.task, client_task=o.client_task) for o in offers.tasks)
    if not wanted:
        return []
    request = AssignmentRequest(version=VERSION, population=population, tasks=wanted)
    given = (await parts.api.assignments(request, meter)).assignments
    return [each for each in given if isinstance(each, Assigned) and each.windows]


async def _send(kind: str, place: Assigned, parts: Parts, meter: Meter) -> None:
    body = await parts.api.client_task(place.client_task, meter)
    task = msgspec.json.decode(body, type=ClientTask)
    bad = bad_bytes(kind, task, place, choose=parts.rng.choice)
    token = secrets.token_hex(16) if kind == Code.BAD_TOKEN else place.token
    # A duplicate is a fine update that comes twice: the first one counts, and tells nothing.
    for _ in range(2 if kind == Reason.DUPLICATE else 1):
        await parts.api.upload(
            session=place.session, update=place.update, token=token, sealed=bad, meter=meter
        )
