"""The portal that a fleet's phones talk to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

import msgspec

from aggregation.clock import Clock
from aggregation.errors import Problem
from aggregation.protocol.streams import Catalog
from devices_sim.device.api_client import HttpApi
from devices_sim.device.http import Http, NoReply
from devices_sim.device.verification import Pins
from devices_sim.fleet.driver import Parts

# Machine seconds for the portal's answer, and between two questions.
_ANSWER_SECONDS: Final = 10.0
_AGAIN_SECONDS: Final = 0.5


@asynccontextmanager
async def parts_at(
    url: str,
    *,
    catalog: Catalog,
    clock: Clock,
    rng: Random,
    patient: bool = False,
    ahead: int = 1,
) -> AsyncIterator[Parts]:
    """What phones need to talk to this portal; who is patient waits until it is there.

    `ahead` is how many of them may ask at a time over one connection.
    """
    async with Http(url, ahead=ahead) as http:
        while True:
            try:
                pins = await _pins_of(http, url)
                break
            except Problem:
                if not patient:
                    raise
            await asyncio.sleep(_AGAIN_SECONDS)
        yield Parts(catalog, pins, HttpApi(http), clock, rng)


class _Keys(msgspec.Struct):
    approval: str
    worker: str
    also: dict[str, list[str]] = {}


async def pins_at(url: str) -> Pins:
    """What it publishes now: as after an update of the app."""
    async with Http(url) as http:
        return await _pins_of(http, url)


async def _pins_of(http: Http, url: str) -> Pins:
    """The keys the portal publishes. A real phone is delivered with them; this one trusts."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            reply = await http.ask("GET", "/api/v1/device-keys")
        keys = msgspec.json.decode(reply.body, type=_Keys)
        return Pins.of(approval=keys.approval, worker=keys.worker, also=keys.also)
    except (NoReply, TimeoutError, ValueError, Problem):
        raise Problem(
            f"No portal answers at {url} with the keys that phones pin.",
            hint="Start it with `make run`, or name another address with --url.",
        ) from None
