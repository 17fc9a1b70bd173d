"""The lives of phones: made at their install, handed what happens, stopped, wiped, made again."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

import pyarrow as pa

from aggregation.clock import Clock, ManualClock
from aggregation.ondevice.events import Event
from devices_sim.device.api_client import DeviceApi
from devices_sim.device.conditions import Conditions
from devices_sim.device.phone import Phone
from devices_sim.device.state import State
from devices_sim.device.storage import Storage
from devices_sim.device.verification import Pins
from devices_sim.device.wake_up import Sent, WakeUp
from devices_sim.fleet.hostile import attack
from devices_sim.fleet.mishaps import PhoneStopped, ShiftedClock, StopsInUpload
from devices_sim.fleet.report import Report
from devices_sim.fleet.resting import Resting
from devices_sim.fleet.source import Source

if TYPE_CHECKING:
    from devices_sim.fleet.driver import Parts

# Lines of its own log that each phone keeps.
_LOG_ENTRIES: Final = 8
# A fifth larger than with zlib, in an eighth of the time.
_LZ4: Final = pa.Codec("lz4_raw")
STOPPED: Final = "The phone stopped while it sent an update."


@dataclass(slots=True)
class Life:
    """One phone, and what is known of it beside: little, as there are many."""

    phone: Phone
    storage: RestingStorage
    # What happened before this civil moment is on the phone.
    given: float
    # It stops during its next upload.
    will_stop: bool = False
    # Updates sent since the last ones were settled, and the traffic with them.
    updates: int = 0
    up: int = 0
    down: int = 0
    on_their_way: int = 0

    @property
    def quiet_seconds(self) -> float:
        """Machine seconds for which the server asked for quiet."""
        return max(0.0, self.phone.quiet_until - self.phone.machine())


class RestingStorage:
    """Lives as long as its process; packed while its phone is at rest."""

    __slots__ = ("_blob", "packed", "size")

    def __init__(self, packed: bytes | None = None, size: int = 0) -> None:
        self._blob: bytes | None = None
        self.packed, self.size = packed, size

    def load(self) -> bytes | None:
        if self._blob is None and self.packed is not None:
            self._blob = _LZ4.decompress(self.packed, decompressed_size=self.size, asbytes=True)
        return self._blob

    def save(self, blob: bytes) -> None:
        self._blob = blob

    def rest(self) -> None:
        if self._blob is not None:
            self.packed, self.size = _LZ4.compress(self._blob, asbytes=True), len(self._blob)
            self._blob = None

    def __repr__(self) -> str:
        return "RestingStorage(contents withheld)"


class Lives:
    def __init__(self, source: Source, parts: Parts, report: Report) -> None:
        self._source, self._parts, self._report = source, parts, report
        # Those who have been awake.
        self._lives: dict[int, Life] = {}

    async def wake(self, number: int, conditions: Conditions, now: float) -> tuple[Life, WakeUp]:
        """Hand over what happened since the last time, and let the phone run."""
        life = self._lives.get(number) or self._installed(number, self._source.installed(number))
        before, unusual = life.given, self._source.unusual(number)
        if unusual.hostile:
            population = self._source.population(number)
            return life, await attack(unusual.hostile, population, self._parts, self._report)
        for moment in (m for m in unusual.reinstalls if before < m <= now):
            self._report.on_their_way -= life.on_their_way
            life = self._installed(number, moment)
        life.will_stop |= any(before < moment <= now for moment in unusual.crashes)
        found = self._happened(number, life, now, unusual.clock_error)
        count = sum(map(len, found.values()))
        began = time.perf_counter()
        if unusual.forgetful:
            did = await self._forgetful(number, life, conditions, found)
        else:
            did = await self._awake(number, life, conditions, found if count else {})
        self._report.events += count
        self._report.dropped += count - did.kept
        if did.sent:
            self._report.took[math.ceil((time.perf_counter() - began) * 1000)] += 1
        life.storage.rest()
        self._account(life, did)
        return life, did

    def at_rest(self) -> list[Resting]:
        """All who have been awake, as they are: each between two wake-ups, or stopped in one."""
        found = []
        for number, life in self._lives.items():
            life.storage.rest()
            if (packed := life.storage.packed) is not None:
                size = life.storage.size
                found.append(Resting(number, packed, size, life.given, life.will_stop))
        return found

    def resume(self, one: Resting) -> State:
        """A phone goes on where it was. Gives what it remembers."""
        storage = RestingStorage(one.packed, one.size)
        phone = self._phone(one.number, storage)
        state = phone.load()
        storage.rest()
        waiting = len(state.pending)
        self._lives[one.number] = Life(
            phone, storage, one.given, will_stop=one.will_stop, on_their_way=waiting
        )
        self._report.on_their_way += waiting
        return state

    def update(self, pins: Pins) -> None:
        """An update of the app reaches all phones: from now on they pin these keys."""
        self._parts = replace(self._parts, pins=pins)
        for life in self._lives.values():
            life.phone.pins = pins

    def _installed(self, number: int, moment: float) -> Life:
        storage = RestingStorage()
        phone = self._phone(number, storage, moment)
        self._lives[number] = life = Life(phone, storage, moment)
        return life

    def _phone(self, number: int, storage: Storage, moment: float | None = None) -> Phone:
        """With a moment given, as if it had been made then; else one that starts again."""
        parts, error = self._parts, self._source.unusual(number).clock_error
        clock: Clock = ShiftedClock(parts.clock, error) if error else parts.clock
        then = clock if moment is None else ManualClock(datetime.fromtimestamp(moment + error, UTC))
        shared = (parts.catalog, parts.pins, parts.api, then, parts.rng)
        population = self._source.population(number)
        phone = Phone(storage, *shared, population, log_entries=_LOG_ENTRIES)
        if moment is not None:
            for stream in self._source.consents(number):
                phone.set_consent(stream, True)
        phone.clock = clock
        return phone

    def _happened(
        self, number: int, life: Life, now: float, clock_error: float
    ) -> dict[str, list[Event]]:
        """Since the last time. Events are stamped by the phone's own clock."""
        found = {
            stream: self._source.events(number, stream, life.given, now)
            for stream in self._source.consents(number)
        }
        if clock_error:
            found = {
                stream: [event._replace(time=event.time + clock_error) for event in events]
                for stream, events in found.items()
            }
        life.given = now
        return found

    async def _forgetful(
        self, number: int, life: Life, conditions: Conditions, events: dict[str, list[Event]]
    ) -> WakeUp:
        """It keeps what happened, and nothing of what it did about it."""
        kept = life.phone.record_all(events)
        remembered = life.storage.load()
        did = await self._awake(number, life, conditions, {})
        if remembered is not None:
            life.storage.save(remembered)
        did.kept = kept
        return did

    async def _awake(
        self, number: int, life: Life, conditions: Conditions, events: dict[str, list[Event]]
    ) -> WakeUp:
        if not life.will_stop:
            return await life.phone.wake_up(conditions, events=events)
        known = {pending.update for pending in life.phone.load().pending}
        life.phone.api = cast(DeviceApi, StopsInUpload(self._parts.api))
        try:
            return await life.phone.wake_up(conditions, events=events)
        except PhoneStopped:
            life.will_stop = False
            life.phone = self._phone(number, life.storage)
            pending = life.phone.load().pending
            sent = [
                Sent(p.task, p.windows, len(p.sealed), p.update)
                for p in pending
                if p.update not in known
            ]
            kept = sum(map(len, events.values()))  # saved before the upload
            return WakeUp(stopped=STOPPED, sent=sent, on_their_way=len(pending), kept=kept)

    def _account(self, life: Life, did: WakeUp) -> None:
        report = self._report
        report.add(did)
        report.on_their_way += did.on_their_way - life.on_their_way
        life.on_their_way = did.on_their_way
        life.updates += len(did.sent)
        if not life.updates:
            return  # nothing to do this time: no query's traffic
        life.up += did.meter.up
        life.down += did.meter.down
        if not did.on_their_way:
            self._close_account(life)

    def close_accounts(self) -> None:
        """Of queries of which no phone has heard the end: their traffic so far."""
        for life in self._lives.values():
            if life.updates:
                self._close_account(life)

    def _close_account(self, life: Life) -> None:
        report = self._report
        report.up[life.up // life.updates] += life.updates
        report.down[life.down // life.updates] += life.updates
        report.both[(life.up + life.down) // life.updates] += life.updates
        life.up = life.down = life.updates = 0
