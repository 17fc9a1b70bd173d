"""A phone: what its apps, its owner and its system can do with it.

It keeps no more in memory than where its state is stored: each call reads the state, acts, saves
and forgets it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from random import Random
from typing import Final

from aggregation.clock import Clock
from aggregation.ondevice.events import Event
from aggregation.protocol.streams import Catalog
from devices_sim.device import consent, event_cache, local_log, runtime
from devices_sim.device.api_client import DeviceApi
from devices_sim.device.budget import WEEKLY_CAP
from devices_sim.device.conditions import Conditions
from devices_sim.device.fitting import stream_of
from devices_sim.device.library import Library, shared_library
from devices_sim.device.state import VERSION, State, from_bytes, to_bytes
from devices_sim.device.storage import Storage
from devices_sim.device.verification import Pins
from devices_sim.device.wake_up import WakeUp

_FINE: Final = Conditions()


class Phone:
    """One install. Made anew over the same storage, it goes on where it was."""

    __slots__ = (
        "api",
        "awake",
        "catalog",
        "clock",
        "library",
        "log_entries",
        "machine",
        "pins",
        "population",
        "quiet_until",
        "rng",
        "storage",
        "weekly_cap",
    )

    def __init__(  # noqa: PLR0917 - the parts of a phone, in the protocol's order
        self,
        storage: Storage,
        catalog: Catalog,
        pins: Pins,
        api: DeviceApi,
        clock: Clock,
        rng: Random,
        population: str,
        *,
        machine: Callable[[], float] = time.monotonic,
        library: Library | None = None,
        weekly_cap: int = WEEKLY_CAP,
        log_entries: int = local_log.MAX_ENTRIES,
    ) -> None:
        self.storage, self.catalog, self.pins, self.api = storage, catalog, pins, api
        self.clock, self.machine, self.rng = clock, machine, rng
        self.population = population
        self.library = library or shared_library(catalog)
        self.weekly_cap, self.log_entries = weekly_cap, log_entries
        self.awake: State | None = None
        # Machine time until which the server asked for quiet; forgotten at a restart.
        self.quiet_until = 0.0
        if storage.load() is None:
            self._start_anew("installed")

    def record(self, stream: str, *events: Event) -> int:
        """An app reports what happened; says how many events were kept."""
        return self.record_all({stream: events})

    def record_all(self, events: Mapping[str, Iterable[Event]]) -> int:
        """The same for several streams at once, by their names."""
        state = self.load()
        event_cache.purge(state, self.catalog, now=self.now())
        kept = self._keep(state, events)
        if kept:
            self.save(state)
        return kept

    def set_consent(self, stream: str, agrees: bool) -> None:
        """The owner opts in to a stream, or out of it."""
        stream_of(stream, self.catalog)
        state = self.load()
        change = consent.opt_in if agrees else consent.opt_out
        change(state, stream, now=self.now())
        self.save(state)

    async def wake_up(
        self, conditions: Conditions = _FINE, *, events: Mapping[str, Iterable[Event]] | None = None
    ) -> WakeUp:
        """The system gives the phone a minute in the background.

        `events` is what apps have to report at this moment; the wake-up saves them with the rest,
        and purges what is too old among both.
        """
        if self.awake is not None:
            return WakeUp(stopped="The phone is awake already.")
        self.awake = self.load()
        try:
            kept = self._keep(self.awake, events) if events else 0
            did = await runtime.wake_up(self, conditions)
        finally:
            self.awake = None
        did.kept = kept
        return did

    @property
    def log(self) -> list[local_log.Line]:
        """What left this phone, when and why, and what it refused."""
        return local_log.lines(self.load())

    def now(self) -> float:
        return self.clock.now().timestamp()

    def load(self) -> State:
        """The state of a wake-up under way, so that opting out reaches it; else the stored one."""
        if self.awake is not None:
            return self.awake
        blob = self.storage.load()
        state = from_bytes(blob) if blob is not None else None
        return state if state is not None else self._start_anew("damaged")

    def save(self, state: State) -> None:
        del state.log[: -self.log_entries]
        self.storage.save(to_bytes(state))

    def _keep(self, state: State, events: Mapping[str, Iterable[Event]]) -> int:
        return sum(
            event_cache.record(state, self.catalog, stream, found)
            for stream, found in events.items()
        )

    def _start_anew(self, why: str) -> State:
        """Nothing of the time before is known, so only windows from now on are run."""
        state = State(VERSION, started=self.now())
        local_log.add(state, state.started, why, "")
        self.save(state)
        return state

    def __repr__(self) -> str:
        started = datetime.fromtimestamp(self.load().started, UTC)
        return f"Phone(since {started:%Y-%m-%d}, contents withheld)"
