"""Reach: how likely a phone has a good moment on a day, so that fleets reach what the paper's did.

A phone is idle (with network and battery) at some moment of a day with a chance p of its own, and
is then on Wi-Fi and charging, too, with a chance q of its own. Over phones, p and q are beta
distributed and independent. Daily reach is then E[p], weekly reach 1 − E[(1−p)⁷]; with all three
conditions, pq stands for p. One chance shared by all phones cannot give both: at 44 % a day it
would reach 98 % in a week, not 76 %.

Fitted: the four figures of all countries (two means, two spreads), and each named country's weekly
figure under both conditions (its means). Predicted: each named country's daily figures, as the
spread is the same everywhere. Countries the paper does not name share what remains, so that the
world as a whole has the figures of all countries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import comb, exp, log
from typing import Final

DAYS: Final = 7
IDLE, ALL_THREE = "idle", "idle, Wi-Fi, charging"
ALL, ELSEWHERE = "all countries", "elsewhere"


@dataclass(frozen=True)
class Reach:
    weekly: float
    daily: float


# The paper's table of device reach, version 0.1.
PAPER: Final[dict[str, dict[str, Reach]]] = {
    ALL_THREE: {
        ALL: Reach(0.494, 0.238),
        "US": Reach(0.483, 0.227),
        "IN": Reach(0.198, 0.065),
        "FI": Reach(0.406, 0.176),
    },
    IDLE: {
        ALL: Reach(0.764, 0.442),
        "US": Reach(0.749, 0.420),
        "IN": Reach(0.639, 0.282),
        "FI": Reach(0.821, 0.486),
    },
}
NAMED: Final = ("US", "IN", "FI")
# Shares of the people of all 50,000 regions; the paper does not say where its phones are.
SHARES: Final[dict[str, float]] = {"US": 0.058, "IN": 0.093, "FI": 0.002}


@dataclass(frozen=True)
class Beta:
    """A chance that differs between phones: its mean, and how alike they are."""

    mean: float
    # a + b: near 0 all phones are at 0 or 1, large means all are alike.
    likeness: float

    @property
    def a(self) -> float:
        return self.mean * self.likeness

    @property
    def b(self) -> float:
        return (1 - self.mean) * self.likeness

    def moment(self, power: int) -> float:
        product = 1.0
        for i in range(power):
            product *= (self.a + i) / (self.likeness + i)
        return product


@dataclass(frozen=True)
class Law:
    """The chances of one country's phones: of an idle moment in a day, and of it being on Wi-Fi
    and charging, too."""

    idle: Beta
    charging_too: Beta

    def reach(self, conditions: str) -> Reach:
        too = self.charging_too if conditions == ALL_THREE else None
        return reach_of(self.idle, too)


def reach_of(idle: Beta, too: Beta | None = None) -> Reach:
    def moment(power: int) -> float:
        return idle.moment(power) * (too.moment(power) if too else 1.0)

    missed = sum((-1) ** k * comb(DAYS, k) * moment(k) for k in range(DAYS + 1))
    return Reach(weekly=1 - missed, daily=moment(1))


@lru_cache(maxsize=1)
def laws() -> Mapping[str, Law]:
    """For each named country, and for all others under `ELSEWHERE`."""
    idle = _fitted(IDLE, dict.fromkeys((*NAMED, ELSEWHERE)))
    too = _fitted(ALL_THREE, dict(idle))
    return {country: Law(idle[country], too[country]) for country in idle}


def law_of(country: str) -> Law:
    return laws().get(country) or laws()[ELSEWHERE]


def all_countries(by_country: Mapping[str, Reach]) -> Reach:
    """Reach of the whole world from that of the named countries and elsewhere, by people."""
    rest = 1 - sum(SHARES.values())
    parts = [(SHARES.get(name, rest), reach) for name, reach in by_country.items()]
    return Reach(
        weekly=sum(share * reach.weekly for share, reach in parts),
        daily=sum(share * reach.daily for share, reach in parts),
    )


def modelled() -> dict[str, dict[str, Reach]]:
    """The model's own figures, in the shape of `PAPER`."""
    found = {}
    for conditions in PAPER:
        by_country = {name: law.reach(conditions) for name, law in laws().items()}
        found[conditions] = {ALL: all_countries(by_country), **by_country}
    return found


def lines(measured: Mapping[str, Mapping[str, Reach]] | None = None) -> Iterator[str]:
    """Side by side: the paper, the model, and what a fleet reached, if one ran."""
    model = modelled()
    heads = ("conditions", "where", "", "paper", "model", *(["fleet"] if measured else []))
    yield _line(heads)
    for conditions, rows in PAPER.items():
        for where, paper in rows.items():
            for span in ("weekly", "daily"):
                is_fitted = where == ALL or span == "weekly"
                told = [getattr(paper, span), getattr(model[conditions][where], span)]
                if measured:
                    fleet = measured.get(conditions, {}).get(where)
                    told.append(getattr(fleet, span) if fleet else None)
                figures = [f"{100 * x:.1f} %" if x is not None else "–" for x in told]
                kind = "fitted" if is_fitted else "predicted"
                yield _line((conditions, where, f"{span}, {kind}", *figures))


def _line(cells: tuple[str, ...]) -> str:
    widths = (22, 14, 18)
    return "".join(
        cell.ljust(widths[i]) if i < len(widths) else cell.rjust(9) for i, cell in enumerate(cells)
    )


def _fitted(conditions: str, given: Mapping[str, Beta | None]) -> dict[str, Beta]:
    """The beta laws that, on top of those given, have the paper's figures under the conditions."""
    paper, rest = PAPER[conditions], 1 - sum(SHARES.values())

    def reach(where: str, beta: Beta) -> Reach:
        base = given[where]
        return reach_of(base, beta) if base else reach_of(beta)

    def at(likeness: float) -> dict[str, Beta]:
        def law(where: str, weekly: float) -> Beta:
            mean = _root(lambda m: reach(where, Beta(m, likeness)).weekly - weekly, 1e-6, 1 - 1e-6)
            return Beta(mean, likeness)

        named = {name: law(name, paper[name].weekly) for name in NAMED}
        known = sum(SHARES[name] * paper[name].weekly for name in NAMED)
        return {**named, ELSEWHERE: law(ELSEWHERE, (paper[ALL].weekly - known) / rest)}

    def excess(log_likeness: float) -> float:
        found = at(exp(log_likeness))
        figures = {name: reach(name, beta) for name, beta in found.items()}
        return paper[ALL].daily - all_countries(figures).daily

    return at(exp(_root(excess, log(0.02), log(200.0))))


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function is 0, by halving."""
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2
