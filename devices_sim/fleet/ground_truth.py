"""Ground truth: what really happened, summed exactly over all phones or some of them.

It is the simulator's own data, in its own hands: what a release is measured against. Lengths are
whole metres, seconds and milliseconds, so sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.protocol.shipped import ACTIVITIES, DIRECTIONS, FEATURES, OUTCOMES
from aggregation.protocol.windows import Window
from devices_sim.fleet.draws import BLOCK
from devices_sim.fleet.rhythm import WEEK
from devices_sim.fleet.trips import TICK
from devices_sim.fleet.world import World

Ints = NDArray[np.int64]

# What each stream sums, and how many of its whole units make one.
METRICS: Final[dict[str, dict[str, int]]] = {
    "trips": {"distance_km": 1000, "duration_min": 60},
    "assistant": {"rating": 1, "latency_ms": 1},
}
_DEFAULT_KEYS: Final = {
    "trips": ("region", "activity", "direction"),
    "assistant": ("feature", "outcome"),
}
# Rows summed at a time: some ten bytes of memory each, many times over.
_ROWS_AT_ONCE: Final = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Sums:
    """A row for each combination of keys that occurred, in the order of their domains."""

    # By key: its values, as in its domain.
    keys: dict[str, list[str] | list[int]]
    # Phones with any event there, and events: the paper's num_trips.
    devices: Ints
    events: Ints
    # By metric: its sum, in the unit of the stream's column.
    totals: dict[str, NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.events)


@dataclass(frozen=True, eq=False, repr=False)
class PhoneSums:
    """A row for each phone and combination of keys that occurred."""

    phone: Ints
    # Its place among all combinations of keys.
    cell: Ints
    # Whole units by metric: the number of events first.
    units: Ints


@dataclass(frozen=True, eq=False, repr=False)
class CellSums:
    """A row for each combination of keys that occurred, in order: cheap to add to others."""

    # Its place among all combinations of keys.
    cell: Ints
    # Phones with any event there, events, then whole units by metric.
    units: Ints


def true_sums(
    world: World,
    stream: str,
    window: Window,
    *,
    keys: Sequence[str] = (),
    phones: NDArray[np.bool_] | None = None,
) -> Sums:
    """Exact sums by the given keys: what a stream's domains or stamps declare.

    Counts every event of those phones that agree to the stream; `phones` leaves some out.
    """
    keys = tuple(keys) or _DEFAULT_KEYS[_known(stream)]
    return _told(world, stream, keys, cell_sums(world, stream, window, keys=keys, phones=phones))


def cell_sums(
    world: World,
    stream: str,
    window: Window,
    *,
    keys: Sequence[str],
    phones: NDArray[np.bool_] | None = None,
) -> CellSums:
    """The same without words, for whoever adds the sums of some phones to those of others."""
    batches = sums_by_phone(world, stream, window, keys=keys, phones=phones)
    return added([_by_cell(batch) for batch in batches])


def added(parts: Sequence[CellSums]) -> CellSums:
    """Sums of different phones as one."""
    if not parts:
        return CellSums(np.zeros(0, dtype=np.int64), np.zeros((0, 4), dtype=np.int64))
    found, place = np.unique(np.concatenate([part.cell for part in parts]), return_inverse=True)
    return CellSums(found, _added(np.concatenate([p.units for p in parts]), place, len(found)))


def _by_cell(batch: PhoneSums) -> CellSums:
    found, place = np.unique(batch.cell, return_inverse=True)
    ones = np.ones((len(batch.cell), 1), dtype=np.int64)
    return CellSums(found, _added(np.hstack([ones, batch.units]), place, len(found)))


def _told(world: World, stream: str, keys: Sequence[str], sums: CellSums) -> Sums:
    """In the words of the domains, and in the units of the stream's columns."""
    domains, units = _domains(world, stream, keys), sums.units
    ranks = np.unravel_index(sums.cell, [len(domain) for domain in domains])
    return Sums(
        keys={k: [d[r] for r in rank] for k, d, rank in zip(keys, domains, ranks, strict=True)},
        devices=units[:, 0],
        events=units[:, 1],
        totals={
            name: units[:, 2 + i] / one for i, (name, one) in enumerate(METRICS[stream].items())
        },
    )


def sums_by_phone(
    world: World,
    stream: str,
    window: Window,
    *,
    keys: Sequence[str],
    phones: NDArray[np.bool_] | None = None,
) -> Iterator[PhoneSums]:
    """The same for each phone on its own, some blocks of phones at a time."""
    shape = [len(domain) for domain in _domains(world, stream, keys)]
    counted = world.agrees(stream) if phones is None else world.agrees(stream) & phones
    held: list[tuple[Ints, Ints, Ints]] = []
    for block in range(world.blocks):
        if not counted[block * BLOCK : (block + 1) * BLOCK].any():
            continue
        for rows in _rows_of(world, _known(stream), block, window):
            kept = counted[rows["phone"]]
            cell = np.ravel_multi_index([rows[key][kept] for key in keys], shape)
            units = np.stack([rows[name][kept] for name in ("events", *METRICS[stream])], axis=1)
            held.append((rows["phone"][kept], cell, units))
        if sum(len(cell) for _, cell, _ in held) > _ROWS_AT_ONCE:
            yield _by_phone(held)
            held = []
    if held:
        yield _by_phone(held)


def _by_phone(held: list[tuple[Ints, Ints, Ints]]) -> PhoneSums:
    phone, cell, units = (np.concatenate(column) for column in zip(*held, strict=True))
    order = np.lexsort((cell, phone))
    phone, cell, units = phone[order], cell[order], units[order]
    is_new = np.ones(len(cell), dtype=bool)
    is_new[1:] = (phone[1:] != phone[:-1]) | (cell[1:] != cell[:-1])
    first = np.nonzero(is_new)[0]
    summed = np.add.reduceat(units, first) if len(first) else units
    return PhoneSums(phone[first], cell[first], summed)


def _added(units: Ints, place: Ints, count: int) -> Ints:
    """Rows of the same place, summed as whole numbers."""
    sums = np.zeros((count, units.shape[1]), dtype=np.int64)
    np.add.at(sums, place, units)
    return sums


def _rows_of(world: World, stream: str, block: int, window: Window) -> Iterator[dict[str, Ints]]:
    """A block's events in the window, a week's at a time: ranks in domains, and whole units."""
    start, end = window.start.timestamp(), window.end.timestamp()
    for week in world.weeks(start, end):
        begins = world.week_0 + week * WEEK
        rows = _TELL[stream](world, block, week)
        rows["phone"] += block * BLOCK
        time = begins + rows.pop("tick") * TICK
        local = time + rows.pop("ahead")
        # 1 January 1970 was a Thursday.
        rows["hour_of_day"] = (local // 3600 % 24).astype(np.int64)
        rows["day_of_week"] = ((local // 86_400 + 3) % 7).astype(np.int64)
        kept = (time >= start) & (time < end) & (rows["phone"] < world.phones)
        yield {name: column[kept] for name, column in rows.items()}


def _trip_rows(world: World, block: int, week: int) -> dict[str, Ints]:
    made, places = world.trips(block, week), world.places
    person = np.repeat(np.arange(len(made.offsets) - 1), np.diff(made.offsets))
    between = np.nonzero(made.origin != made.destination)[0]
    rows = np.concatenate([np.arange(len(made)), between])
    region = np.concatenate([made.origin, made.destination[between]]).astype(np.int64)
    within, outbound, inbound = range(3)
    direction = np.full(len(rows), within, dtype=np.int64)
    direction[between], direction[len(made) :] = outbound, inbound
    return {
        "phone": person[rows].astype(np.int64),
        "tick": made.time[rows].astype(np.int64),
        "ahead": places.utc_offset[region].astype(np.int64),
        "region": region,
        "country": places.country[region].astype(np.int64),
        "activity": made.activity[rows].astype(np.int64),
        "direction": direction,
        "events": np.ones(len(rows), dtype=np.int64),
        "distance_km": made.metres[rows].astype(np.int64),
        "duration_min": made.seconds[rows].astype(np.int64),
    }


def _use_rows(world: World, block: int, week: int) -> dict[str, Ints]:
    made = world.uses(block, week)
    person = np.repeat(np.arange(len(made.offsets) - 1), np.diff(made.offsets))
    home = world.homes[block * BLOCK + person]
    return {
        "phone": person.astype(np.int64),
        "tick": made.time.astype(np.int64),
        "ahead": world.places.utc_offset[home].astype(np.int64),
        "feature": made.feature.astype(np.int64),
        "outcome": made.outcome.astype(np.int64),
        "events": np.ones(len(made), dtype=np.int64),
        "rating": made.rating.astype(np.int64),
        "latency_ms": made.milliseconds.astype(np.int64),
    }


_TELL: Final = {"trips": _trip_rows, "assistant": _use_rows}


def _known(stream: str) -> str:
    if stream not in METRICS:
        raise Problem(f"Nothing happens in the stream {stream!r} of a made-up world.")
    return stream


def _domains(world: World, stream: str, keys: Sequence[str]) -> list[Sequence[str] | list[int]]:
    stamps: dict[str, Sequence[str] | list[int]] = {
        "hour_of_day": list(range(24)),
        "day_of_week": list(range(7)),
    }
    trips = {
        "region": world.places.ids,
        "country": world.places.codes,
        "activity": [str(name) for name in ACTIVITIES],
        "direction": [str(name) for name in DIRECTIONS],
    }
    assistant = {
        "feature": [str(name) for name in FEATURES],
        "outcome": [str(name) for name in OUTCOMES],
    }
    known = {**(trips if stream == "trips" else assistant), **stamps}
    for key in keys:
        if key not in known:
            raise Problem(f"True sums of {stream} know no key {key!r}, but {', '.join(known)}.")
    return [known[key] for key in keys]
