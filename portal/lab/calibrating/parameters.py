"""What a calibration on the made-up world is asked for, checked before anything runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from aggregation.errors import Problem
from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_reading import read_spec
from portal.lab.calibrating.fit import checked_fit
from portal.tasks.starting_points import starting_point, starting_points

FEWEST, MOST = 3_000, 2_000_000
FEWEST_PER_REGION, MOST_PER_REGION = 500, 100_000
_LEAST_EPSILON, _LARGEST_EPSILON = 0.01, 64.0


@dataclass(frozen=True)
class Parameters:
    # A whole spec as text, or the name of a starting point.
    task: str
    # Without one, the task's own.
    epsilon: float | None = None
    devices: int = 200_000
    # How many of them live in a region: a bound that fits many devices is too loose for few.
    per_region: int = 10_000
    seed: int = 1
    fit: str = "rotated"

    @classmethod
    def of(cls, given: dict[str, Any]) -> Parameters:
        """From JSON; what is wrong is a sentence."""
        if unknown := sorted(set(given) - set(cls.__dataclass_fields__)):
            known = ", ".join(cls.__dataclass_fields__)
            raise Problem(f"A calibration knows no {unknown[0]!r}.", hint=f"It knows {known}.")
        if not isinstance(given.get("task"), str):
            raise Problem("A calibration needs a task.", hint="Give its spec, or a starting point.")
        found = cls(
            task=given["task"],
            epsilon=checked_epsilon(given.get("epsilon")),
            devices=_whole(given, "devices", FEWEST, MOST),
            per_region=_whole(given, "per_region", FEWEST_PER_REGION, MOST_PER_REGION),
            seed=_whole(given, "seed", 0, 2**31),
            fit=checked_fit(str(given.get("fit", cls.fit))),
        )
        found.spec  # noqa: B018 - reads it, or says why not
        return found

    @property
    def spec(self) -> Spec:
        return named_spec(self.task)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def named_spec(task: str) -> Spec:
    """A starting point by its name, else the text of a spec."""
    point = starting_point(task.strip())
    if point is not None:
        return point.spec
    if ":" not in task:
        known = ", ".join(each.slug for each in starting_points())
        raise Problem(
            f"There is no starting point {task[:60]!r}.", hint=f"Give a spec, or one of {known}."
        )
    return read_spec(task)


def checked_epsilon(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Problem(f"ε is a number, not {repr(value)[:40]}.")
    if not _LEAST_EPSILON <= value <= _LARGEST_EPSILON:
        told = f"{_LEAST_EPSILON:g} to {_LARGEST_EPSILON:g}"
        raise Problem(f"ε goes from {told}, not {repr(value)[:40]}.")
    return float(value)


def _whole(given: dict[str, Any], name: str, least: int, most: int) -> int:
    value = given.get(name, getattr(Parameters, name))
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise Problem(
            f"{name} is a whole number from {least:,} to {most:,}, not {repr(value)[:40]}."
        )
    return value
