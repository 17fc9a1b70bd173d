"""Devices that send what no honest phone sends, as fast as they can, and wait for nothing."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from itertools import cycle

from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.messages import MAX_WANTED, Assigned, AssignmentRequest, Wanted
from aggregation.protocol.sealing import seal
from aggregation.protocol.windows import Window
from devices_sim.device.api_client import Busy, HttpApi, Meter, NotReached
from devices_sim.fleet.bad_updates import bad_updates

# Attackers, each with many places.
AT_ONCE = 4
# What a phone takes for "Retry-After is missing".
UNSAID_SECONDS = 60.0


@dataclass
class Garbage:
    """Half of it does not open, a quarter opens and is refused, a quarter has no right token."""

    api: HttpApi
    name: str
    task: ClientTask
    window: Window
    sent: int = 0
    # Answers that asked for quiet, and those of them that did not say for how long.
    sent_off: int = 0
    unsaid: int = 0

    async def flood(self) -> None:
        """Until it is cancelled."""
        await asyncio.gather(*(self._send() for _ in range(AT_ONCE)))

    async def _send(self) -> None:
        bad = cycle(plain for _, plain in bad_updates(self.task, self.window.id))
        while True:
            places = await self._places()
            await asyncio.gather(
                *(self._upload(n, place, next(bad)) for n, place in enumerate(places))
            )

    async def _places(self) -> list[Assigned]:
        wanted = (Wanted(task=self.name, client_task=self.task.sha256),) * MAX_WANTED
        request = AssignmentRequest(version=1, population="all", tasks=wanted)
        try:
            given = (await self.api.assignments(request, Meter())).assignments
        except NotReached:
            return []
        return [place for place in given if isinstance(place, Assigned)]

    async def _upload(self, number: int, place: Assigned, plain: bytes) -> None:
        self.sent += 1
        sealed = secrets.token_bytes(len(plain) + 48)
        if number % 4 == 0:
            sealed = seal(
                plain,
                public=bytes.fromhex(place.public_key),
                client_task=place.client_task,
                session=place.session,
                update=place.update,
            )
        token = place.token if number % 4 < 3 else secrets.token_hex(16)
        try:
            await self.api.upload(
                session=place.session, update=place.update, token=token, sealed=sealed,
                meter=Meter(),
            )  # fmt: skip
        except Busy as busy:
            self.sent_off += 1
            self.unsaid += busy.seconds == UNSAID_SECONDS
