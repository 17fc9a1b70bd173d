"""Emission factors: grams of CO₂e for one person travelling one kilometre, by country and activity.

They come from a versioned file, one source, year and unit per row. For public transport and what
burns nothing a row says it directly. For cars it is put together from the fleet mix, the carbon
intensity of each fuel and the occupancy,

    factor = Σ over fuels of share · (g/vehicle-km) / Σ of shares / (persons/vehicle),

the shares taken over the fuels we know an intensity of. Where a country has no row of its own, the
average (`*`) is taken, and the factor is marked. What burns fuel counts at the exhaust; what runs
on electricity counts what generating it emits; flights count their effects at altitude. Making
vehicles, roads and fuel is not counted, so figures that count it (those of the German and French
environment agencies) are left out. Where a source gives CO₂ alone, the row's unit says so; other
gases add 1 or 2 % at the exhaust. The factors' own uncertainty is not known to us and is not in any
interval.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from aggregation.errors import Problem

VERSION: Final = "2026-1"
AVERAGE: Final = "*"
_FOLDER: Final = Path(__file__).parent / "factors"


@dataclass(frozen=True)
class Row:
    """One figure with where it is from."""

    quantity: str
    activity: str
    fuel: str
    # ISO 3166 alpha-2, or `*` for the average.
    country: str
    value: float
    unit: str
    year: int
    source: str


@dataclass(frozen=True)
class Factor:
    """Grams of CO₂e per passenger-kilometre, and what it is made of."""

    grams_per_km: float
    rows: tuple[Row, ...]

    @property
    def is_average(self) -> bool:
        """Whether any part of it is the average, for want of the country's own figure."""
        return any(row.country == AVERAGE for row in self.rows) and self.grams_per_km > 0


class FactorTable:
    """All figures of one version."""

    def __init__(self, rows: Iterable[Row], *, version: str, sha256: str) -> None:
        self.rows = tuple(rows)
        self.version = version
        self.sha256 = sha256

    def factor(self, activity: str, country: str) -> Factor:
        direct = self._own_or_average("per_passenger", activity, country)
        if direct:
            return Factor(direct[0].value, tuple(direct))
        shares = self._own_or_average("fleet_share", activity, country)
        occupancy = self._own_or_average("occupancy", activity, country)
        if not shares or not occupancy:
            raise Problem(
                f"There is no emission factor for the activity {activity[:60]!r}.",
                hint="Add it to the file of factors, with its source.",
            )
        used, weighted, total = [*shares, *occupancy], 0.0, 0.0
        for share in shares:
            intensity = self._own_or_average("per_vehicle", activity, country, share.fuel)[0]
            used.append(intensity)
            weighted += share.value * intensity.value
            total += share.value
        return Factor(weighted / total / occupancy[0].value, tuple(used))

    def _own_or_average(
        self, quantity: str, activity: str, country: str, fuel: str | None = None
    ) -> list[Row]:
        found = [
            r
            for r in self.rows
            if (r.quantity, r.activity) == (quantity, activity) and fuel in (None, r.fuel)
        ]
        own = [r for r in found if r.country == country]
        return own or [r for r in found if r.country == AVERAGE]


@lru_cache(maxsize=4)
def factor_table(version: str = VERSION) -> FactorTable:
    """The factors of one version; all that were ever released stay."""
    raw = (_FOLDER / f"{version}.csv").read_bytes()
    rows = [
        Row(
            quantity=r["quantity"],
            activity=r["activity"],
            fuel=r["fuel"],
            country=r["country"],
            value=float(r["value"]),
            unit=r["unit"],
            year=int(r["year"]),
            source=r["source"],
        )
        for r in csv.DictReader(raw.decode().splitlines())
    ]
    return FactorTable(rows, version=version, sha256=hashlib.sha256(raw).hexdigest())
