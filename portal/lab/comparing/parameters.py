"""What a comparison is asked for, checked before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from aggregation.calibration.fitting import NAMES
from aggregation.errors import Problem

FEWEST, MOST = 10_000, 2_000_000
# The paper's whole figure.
EPSILONS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
_LEAST_EPSILON, _LARGEST_EPSILON = 0.05, 64.0
_MOST_EPSILONS, _MOST_SEEDS = 12, 10
_MOST_WHOLE: Final = 2**31
PEOPLE: Final = ("travellers", "world")


@dataclass(frozen=True)
class Parameters:
    # Devices to fit on; each of the other geographies has a fifth as many.
    devices: int = 1_000_000
    epsilons: tuple[float, ...] = (2.0,)
    seeds: tuple[int, ...] = (1,)
    # Whose travel: see `travellers`, or the fleet's world.
    people: str = "travellers"
    mechanisms: tuple[str, ...] = NAMES

    @classmethod
    def of(cls, given: dict[str, Any]) -> Parameters:
        """From JSON; what is wrong is a sentence."""
        if unknown := sorted(set(given) - set(cls.__dataclass_fields__)):
            known = ", ".join(cls.__dataclass_fields__)
            raise Problem(f"A comparison knows no {unknown[0]!r}.", hint=f"It knows {known}.")
        found = cls(
            devices=_whole(given.get("devices", cls.devices), "The number of devices"),
            epsilons=tuple(_number(e) for e in _several(given, "epsilons", cls.epsilons)),
            seeds=tuple(_whole(s, "A seed") for s in _several(given, "seeds", cls.seeds)),
            people=str(given.get("people", cls.people)),
            mechanisms=tuple(map(str, _several(given, "mechanisms", cls.mechanisms))),
        )
        found._check()
        return found

    def plain(self) -> dict[str, Any]:
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    def _check(self) -> None:
        if not FEWEST <= self.devices <= MOST:
            message = f"A comparison has {FEWEST:,} to {MOST:,} devices, not {self.devices:,}."
            raise Problem(message, hint="The paper's 10,000 in a region: 1,000,000 make 100.")
        if not 1 <= len(self.epsilons) <= _MOST_EPSILONS:
            raise Problem(f"A comparison has 1 to {_MOST_EPSILONS} values of ε.")
        if not 1 <= len(self.seeds) <= _MOST_SEEDS:
            raise Problem(f"A comparison has 1 to {_MOST_SEEDS} seeds.")
        if self.people not in PEOPLE:
            raise Problem(
                f"There are no people {self.people!r}.", hint=f"Use {' or '.join(PEOPLE)}."
            )
        for name in self.mechanisms:
            if name not in NAMES:
                hint = f"There are {', '.join(NAMES)}."
                raise Problem(f"There is no mechanism {name!r} to compare.", hint=hint)


def _several(given: dict[str, Any], name: str, usual: Sequence[Any]) -> Sequence[Any]:
    """Without repetitions, in the order given."""
    values = given.get(name, usual)
    if not isinstance(values, list | tuple):
        return [values]
    return [value for at, value in enumerate(values) if value not in values[:at]]


def _whole(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_WHOLE:
        raise Problem(f"{what} is a whole number from 0 to {_MOST_WHOLE:,}, not {_short(value)}.")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Problem(f"ε is a number, not {_short(value)}.")
    if not _LEAST_EPSILON <= value <= _LARGEST_EPSILON:
        told = f"{_LEAST_EPSILON:g} to {_LARGEST_EPSILON:g}"
        raise Problem(f"ε goes from {told} here, not {_short(value)}.")
    return float(value)


def _short(value: object) -> str:
    return repr(value)[:40]
