"""For tests of a phone: waking it up, over HTTP or not, after a week."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from aggregation.clock import ManualClock
from devices_sim.device.conditions import Conditions
from devices_sim.device.phone import Phone
from devices_sim.device.wake_up import WakeUp
from tests.aggregation.ondevice.examples import WEEK, trip
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import Fault, served

BEFORE = WEEK.start - timedelta(days=1)
SOON = timedelta(hours=1)


def awake(phone: Phone, conditions: Conditions | None = None) -> WakeUp:
    return asyncio.run(phone.wake_up(conditions or Conditions()))


def over_http(
    peer: Peer, story: Callable[[Any], Awaitable[None]], fault: Fault = lambda number, name: ""
) -> None:
    async def run() -> None:
        async with served(peer, fault) as api:
            await story(api)

    asyncio.run(run())


def after_the_week(phone: Phone, clock: ManualClock, *more: Any) -> Phone:
    phone.record("trips", trip(), *more)
    clock.set(WEEK.end + SOON)
    return phone
