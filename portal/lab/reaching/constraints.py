"""The paper's table of constraints, counted on the moments that simulated phones have."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from devices_sim.fleet import connectivity
from devices_sim.fleet.draws import BLOCK, Lot
from devices_sim.fleet.reach import (
    ALL,
    ALL_THREE,
    ELSEWHERE,
    IDLE,
    NAMED,
    PAPER,
    Reach,
    all_countries,
    modelled,
)
from devices_sim.fleet.trips import TICK
from portal.lab.running import Ask

_DAYS: Final = 7
_ASKED: Final = {IDLE: ("idle",), ALL_THREE: ("idle", "unmetered", "charging")}
# Which of all conditions there are let a task run that asks for these.
_GOOD: Final = {
    name: np.array(
        [not c.missing and c.meet(asked) for c in map(connectivity.conditions_of, range(101 << 4))]
    )
    for name, asked in _ASKED.items()
}


def counted(phones: int, seed: int, ask: Ask) -> dict[str, dict[str, Reach]]:
    """Each named country, and the rest, has a quarter of the phones: few live in Finland, and they
    would say little. The world is put together of them by the shares of people."""
    places = (*NAMED, ELSEWHERE)
    by_place = {}
    for number, where in enumerate(places):
        by_place[where] = _reach_in(where, phones // len(places), seed, number, ask)
        ask.progress((number + 1) / len(places))
    return {
        conditions: {
            ALL: all_countries({where: found[conditions] for where, found in by_place.items()}),
            **{where: found[conditions] for where, found in by_place.items()},
        }
        for conditions in _ASKED
    }


def rows(found: Mapping[str, Mapping[str, Reach]]) -> Iterator[dict[str, Any]]:
    """One for each figure of the paper's table, in percent."""
    model = modelled()
    for conditions, places in PAPER.items():
        for where, paper in places.items():
            for span in ("weekly", "daily"):
                is_fitted = where == ALL or span == "weekly"
                yield {
                    "conditions": conditions,
                    "where": where,
                    "span": span,
                    "kind": "fitted" if is_fitted else "predicted",
                    "paper": _percent(getattr(paper, span)),
                    "model": _percent(getattr(model[conditions][where], span)),
                    "phones": _percent(getattr(found[conditions][where], span)),
                }


def _reach_in(where: str, phones: int, seed: int, number: int, ask: Ask) -> dict[str, Reach]:
    law = connectivity.law_table([where])
    good_days = {name: np.zeros(_DAYS + 1, dtype=np.int64) for name in _ASKED}
    blocks = max(1, phones // BLOCK)
    for block in range(blocks):
        ask.go_on()
        lot = Lot(seed, block + number * 1_000_000)
        phone = connectivity.chances(lot, np.repeat(law, BLOCK, axis=0))
        week = connectivity.moments_of_week(lot, phone, np.zeros(BLOCK, dtype=np.int64), 0)
        for name, tally in good_days.items():
            tally[:] += np.bincount(_days(week, _GOOD[name]), minlength=_DAYS + 1)
    return {name: _reach(tally) for name, tally in good_days.items()}


def _days(week: connectivity.Moments, is_good: np.ndarray) -> np.ndarray:
    """For each phone of a block, on how many days it has a good moment."""
    phone = np.repeat(np.arange(BLOCK), np.diff(week.offsets))
    day = week.time.astype(np.int64) * TICK // 86_400
    marks = np.zeros((BLOCK, _DAYS), dtype=bool)
    good = is_good[week.code]
    marks[phone[good], day[good]] = True
    found: np.ndarray = marks.sum(axis=1)
    return found


def _reach(tally: np.ndarray) -> Reach:
    phones = tally.sum()
    return Reach(
        weekly=float(1 - tally[0] / phones),
        daily=float(tally @ np.arange(_DAYS + 1) / (phones * _DAYS)),
    )


def _percent(share: float) -> float:
    return round(100 * share, 1)
