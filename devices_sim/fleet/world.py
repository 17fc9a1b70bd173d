"""The world of a fleet: who carries which phone, what happens to it, and when it wakes up.

Pure and deterministic: the same scenario and epoch give the same answers, in whatever order they
are asked for. It knows neither clock nor network. Nothing is kept of a phone but the columns of
the weeks last asked about; see `draws` for why a block is made at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.ondevice.events import Event
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.conditions import Conditions
from devices_sim.fleet import connectivity, unusual
from devices_sim.fleet.assistant_use import Uses, uses_of_week
from devices_sim.fleet.draws import BLOCK, Lot, Purpose
from devices_sim.fleet.habits import factors_of
from devices_sim.fleet.people import people
from devices_sim.fleet.places import Places, places_of, regions_named
from devices_sim.fleet.rhythm import WEEK
from devices_sim.fleet.scenario import Scenario
from devices_sim.fleet.telling import Telling, rows_within, ticks_within
from devices_sim.fleet.trips import TICK, Trips, trips_of_week
from devices_sim.fleet.unusual import NOTHING, Span, Unusual

T = TypeVar("T", Trips, Uses, connectivity.Moments)

# Golden section: multiples of it, modulo 1, are spread evenly, however many there are.
_GOLDEN: Final = 0.6180339887498949
# Weeks held: a phone that wakes asks about this week and those it slept through. To make a block
# again for one of them costs more than ten wake-ups.
_WEEKS_HELD: Final = 4
# Blocks held of earlier weeks.
_EARLIER_HELD: Final = 16
_AGREES: Final = {"trips": 1, "assistant": 2}


class World:
    """A fleet's people and phones. Weeks are those of UTC, from Monday."""

    def __init__(self, scenario: Scenario, catalog: Catalog, *, epoch: float) -> None:
        self.scenario, self.phones, self.epoch = scenario, scenario.phones, epoch
        self.places: Places = places_of(catalog)
        first = Window.containing(datetime.fromtimestamp(epoch, UTC), Unit.WEEK)
        whole = first.start.timestamp() == epoch
        # Week 0 is the first that begins at or after the epoch.
        self.week_0 = (first.start if whole else first.end).timestamp()
        self.homes: NDArray[np.uint16] = self._homes()
        self._laws = connectivity.law_table(self.places.codes)
        self._told = Telling(self.places)
        self._trips = _Weeks(self._make_trips)
        self._uses = _Weeks(self._make_uses)
        self._moments = _Weeks(self._make_moments)
        self._chances = lru_cache(maxsize=None)(self._make_chances)
        self._lives = lru_cache(maxsize=None)(lambda block: unusual.lives(scenario, block, epoch))
        self._agrees = lru_cache(maxsize=None)(self._make_agrees)

    def population(self, phone: int) -> str:
        return self.places.codes[int(self.places.country[self.homes[phone]])]

    def installed(self, phone: int) -> float:
        return float(self._lives(phone // BLOCK).installed[phone % BLOCK])

    def consents(self, phone: int) -> tuple[str, ...]:
        agrees = self._agrees(phone // BLOCK)[phone % BLOCK]
        return tuple(name for name, bit in _AGREES.items() if agrees & bit)

    def agrees(self, stream: str) -> NDArray[np.bool_]:
        """Which phones agree to the stream."""
        codes = np.concatenate([self._agrees(block) for block in range(self.blocks)])
        return codes[: self.phones] & _AGREES[stream] > 0

    def unusual(self, phone: int) -> Unusual:
        return self._lives(phone // BLOCK).unusual.get(phone % BLOCK, NOTHING)

    def events(self, phone: int, stream: str, start: float, end: float) -> list[Event]:
        """In order of time, with start ≤ time < end."""
        if stream not in ("trips", "assistant"):
            raise Problem(f"Nothing happens in the stream {stream!r} of a made-up world.")
        found: list[Event] = []
        block, person = divmod(phone, BLOCK)
        for week in self.weeks(start, end):
            begins = self.week_0 + week * WEEK
            ticks = ticks_within(begins, start, end)
            if stream == "trips":
                found += self._told.trips(self._trips(block, week), person, begins, ticks)
            else:
                uses, home = self._uses(block, week), int(self.homes[phone])
                found += self._told.uses(uses, person, home, begins, ticks)
        return found

    def wake_ups(self, phone: int, start: float, end: float) -> list[tuple[float, Conditions]]:
        """Moments at which the phone's system would give it background time, in order."""
        found: list[tuple[float, Conditions]] = []
        block, place = divmod(phone, BLOCK)
        for week in self.weeks(start, end):
            begins = self.week_0 + week * WEEK
            moments = self._moments(block, week)
            rows = rows_within(
                moments.offsets, moments.time, place, ticks_within(begins, start, end)
            )
            times = moments.time[rows].tolist()
            codes = moments.code[rows].tolist()
            found += [
                (begins + time * TICK, connectivity.conditions_of(code))
                for time, code in zip(times, codes, strict=True)
            ]
        spans = self._without_network(phone) if found else ()
        if not spans:
            return found
        return [
            (time, _cut_off(had) if any(a <= time < b for a, b in spans) else had)
            for time, had in found
        ]

    def weeks(self, start: float, end: float) -> range:
        """The weeks that hold any moment of [start, end)."""
        first = int((start - self.week_0) // WEEK)
        return range(first, -int(-(end - self.week_0) // WEEK) if end > start else first)

    @property
    def blocks(self) -> int:
        return -(-self.phones // BLOCK)

    @property
    def nbytes(self) -> int:
        """What the columns take that are held now."""
        return self.homes.nbytes + sum(w.nbytes for w in (self._trips, self._uses, self._moments))

    def trips(self, block: int, week: int) -> Trips:
        """A block's trips of a week; not held, so sums over other weeks cost phones nothing."""
        return self._trips.look(block, week)

    def uses(self, block: int, week: int) -> Uses:
        return self._uses.look(block, week)

    def _make_trips(self, block: int, week: int) -> Trips:
        lot, home = self._lot(block, week), self._block_homes(block)
        habits = people(lot, home, self.places, commuting=self.scenario.habits.commuting)
        factors = factors_of(self.scenario, week, self.places, home)
        return trips_of_week(lot, habits, self.places, factors)

    def _make_uses(self, block: int, week: int) -> Uses:
        return uses_of_week(self._lot(block, week), self._offsets(block))

    def _make_moments(self, block: int, week: int) -> connectivity.Moments:
        phones, offsets = self._chances(block), self._offsets(block)
        most = self.scenario.most_wake_ups
        return connectivity.moments_of_week(self._lot(block, week), phones, offsets, most)

    def _make_chances(self, block: int) -> connectivity.Chances:
        countries = self.places.country[self._block_homes(block)]
        return connectivity.chances(self._lot(block), self._laws[countries])

    def _make_agrees(self, block: int) -> NDArray[np.uint8]:
        draw = self._lot(block).generator(Purpose.CONSENTS)
        shares = self.scenario.consents
        agrees = draw.random((2, BLOCK)) < np.array([[shares.trips], [shares.assistant]])
        codes: NDArray[np.uint8] = (agrees[0] + 2 * agrees[1]).astype(np.uint8)
        return codes

    def _homes(self) -> NDArray[np.uint16]:
        """Every few phones are spread over all places by their weight; more change none of them."""
        places, chosen = self.places, self.scenario.places
        if chosen == "world":
            regions, weights = np.arange(len(places.ids)), places.population
        else:
            regions = regions_named(places, list(chosen))
            weights = np.array(list(chosen.values()))
        shift = self._lot(0).generator(Purpose.HOMES).random()
        # Whole blocks: see `draws`.
        u = np.mod(shift + _GOLDEN * np.arange(self.blocks * BLOCK), 1.0)
        edges = np.cumsum(weights) / weights.sum()
        rank = np.minimum(np.searchsorted(edges, u, side="right"), len(regions) - 1)
        homes: NDArray[np.uint16] = regions[rank].astype(np.uint16)
        return homes

    def _lot(self, block: int, week: int = 0) -> Lot:
        return Lot(self.scenario.seed, block, week)

    def _block_homes(self, block: int) -> NDArray[np.int64]:
        return self.homes[block * BLOCK : (block + 1) * BLOCK].astype(np.int64)

    def _offsets(self, block: int) -> NDArray[np.int64]:
        return self.places.utc_offset[self._block_homes(block)].astype(np.int64)

    def _without_network(self, phone: int) -> Sequence[Span]:
        if not self.scenario.outages:
            return self.unusual(phone).offline
        country, hour = self.population(phone), 3600.0
        starts = [(o, self.week_0 + o.start_hours * hour) for o in self.scenario.outages]
        spans = [(start, start + o.hours * hour) for o, start in starts if o.country == country]
        return [*spans, *self.unusual(phone).offline]


class _Weeks(Generic[T]):
    """What was made of the latest weeks asked about, block by block.

    A phone that was away asks about earlier weeks, too: those are made for it, and do not push out
    what all others need.
    """

    def __init__(self, make: Callable[[int, int], T]) -> None:
        self._weeks: dict[int, dict[int, T]] = {}
        self._make: Callable[[int, int], T] = lru_cache(maxsize=_EARLIER_HELD)(make)

    def __call__(self, block: int, week: int) -> T:
        if len(self._weeks) == _WEEKS_HELD and week < min(self._weeks):
            return self._make(block, week)
        held = self._weeks.setdefault(week, {})
        if len(self._weeks) > _WEEKS_HELD:
            del self._weeks[min(self._weeks)]
        if block not in held:
            held[block] = self._make(block, week)
        return held[block]

    def look(self, block: int, week: int) -> T:
        """The same, without holding it."""
        held = self._weeks.get(week, {})
        return held[block] if block in held else self._make(block, week)

    @property
    def nbytes(self) -> int:
        return sum(made.nbytes for held in self._weeks.values() for made in held.values())


@lru_cache(maxsize=4096)
def _cut_off(had: Conditions) -> Conditions:
    return replace(had, network=False, unmetered=False)
