"""What the calls work with, in one place: made at the start of a process, closed at its end."""

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from django.conf import settings

from portal.clock import civil_clock
from portal.device_api.appending import Appender
from portal.device_api.client_tasks import ClientTasks
from portal.device_api.fates import Fates
from portal.device_api.line import Line
from portal.device_api.pressure import Pressure
from portal.device_api.records import Records
from portal.device_api.refreshing import SnapshotKeeper
from portal.device_api.room import Room
from portal.device_api.stalls import Stalls
from portal.device_api.tally import Tally
from portal.device_api.token_check import TokenCheck
from portal.kept_secrets import kept_secret

# Valkey answers within this, or is away.
VALKEY_SECONDS = 2.0
# A body arrives within this, or is given up: 64 kB over a slow line take less.
BODY_SECONDS = 20.0
# A task that was told to stop has little to finish.
_PATIENCE_SECONDS = 0.1


@dataclass
class Parts:
    # Makes tokens; the check of them is the quicker part.
    token_key: bytes = field(repr=False)
    tokens: TokenCheck
    snapshots: SnapshotKeeper
    appender: Appender
    pressure: Pressure
    room: Room
    stalls: Stalls
    tally: Tally
    client_tasks: ClientTasks
    fates: Fates
    rng: random.Random
    _lines: tuple[Line, ...]
    _records: Records
    _tasks: list[asyncio.Task[None]]

    @classmethod
    def start(cls) -> "Parts":
        """Nothing is awaited: a Valkey or database that is away does not keep the start."""
        lines = [Line(settings.QUEUE_URL, seconds=VALKEY_SECONDS) for _ in range(3)]
        rng = random.SystemRandom()
        records = Records(ThreadPoolExecutor(2, thread_name_prefix="device-api"))
        snapshots = SnapshotKeeper(lines[0], every=settings.SNAPSHOT_SECONDS)
        appender, stalls = Appender(lines[1]), Stalls(BODY_SECONDS)
        tally = Tally(lines[2], every=settings.SNAPSHOT_SECONDS, clock=civil_clock())
        runs = (snapshots.run(), appender.run(), stalls.run(), tally.run())
        key = kept_secret("token-key")
        return cls(
            token_key=key,
            tokens=TokenCheck(key),
            snapshots=snapshots,
            appender=appender,
            pressure=Pressure(most=settings.QUEUE_LENGTH, rng=rng),
            stalls=stalls,
            tally=tally,
            room=Room(settings.UPLOAD_ROOM_MB * 1_000_000),
            client_tasks=ClientTasks(records),
            fates=Fates(records),
            rng=rng,
            _lines=tuple(lines),
            _records=records,
            _tasks=[asyncio.create_task(run) for run in runs],
        )

    async def stop(self) -> None:
        # Told until it ends: a client that is just connecting may take the word for its own.
        while running := [task for task in self._tasks if not task.done()]:
            for task in running:
                task.cancel()
            await asyncio.wait(running, timeout=_PATIENCE_SECONDS)
        self.appender.close()
        self._records.close()
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(1):
                await self.tally.write()
                for line in self._lines:
                    await line.close()
