"""Reach as phones really gave it: those that uploaded, of those that could have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.windows import Window
from devices_sim.fleet.reach import ALL, Reach
from devices_sim.fleet.world import World
from devices_sim.simulation.ledger import Ledger
from devices_sim.simulation.plan import TASKS

# Countries with fewer phones say little.
_FEWEST = 200
_DAY_HOURS = 24.0


def reached(
    world: World, ledger: Ledger, tasks: Sequence[str], windows: Sequence[Window]
) -> dict[str, dict[str, Reach]]:
    """By conditions, then by where; averaged over windows. Weekly: sent within the week after it.
    Daily: within 24 hours of the moment from which on the server wanted to hear of it, which is
    not the same for all phones."""
    found: dict[str, dict[str, Reach]] = {}
    country = world.places.country[world.homes[: world.phones]]
    able = _able(world, windows)
    for task in tasks:
        weekly, daily = [], []
        for window in windows:
            sent = ledger.of((task, window.id))
            weekly.append(_marked(world.phones, sent.phone))
            daily.append(_marked(world.phones, sent.phone[sent.hours < _DAY_HOURS]))
        where = {ALL: np.ones(world.phones, dtype=bool)}
        for rank in np.flatnonzero(np.bincount(country) >= _FEWEST):
            where[world.places.codes[rank]] = country == rank
        found[TASKS[task]] = {
            name: Reach(_share(weekly, able, those), _share(daily, able, those))
            for name, those in where.items()
        }
    return found


def _able(world: World, windows: Sequence[Window]) -> list[NDArray[np.bool_]]:
    """For each window the phones whose owner agrees, and that were there when it began."""
    phones = range(world.phones)
    there = np.array([world.installed(phone) for phone in phones])
    honest = np.array([not world.unusual(phone).hostile for phone in phones])
    willing = world.agrees("trips") & honest
    return [willing & (there <= window.start.timestamp()) for window in windows]


def _marked(phones: int, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    marks = np.zeros(phones, dtype=bool)
    marks[numbers] = True
    return marks


def _share(
    did: Sequence[NDArray[np.bool_]],
    able: Sequence[NDArray[np.bool_]],
    those: NDArray[np.bool_],
) -> float:
    could = sum(int((each & those).sum()) for each in able)
    done = sum(int((a & b & those).sum()) for a, b in zip(did, able, strict=True))
    return done / could if could else 0.0
