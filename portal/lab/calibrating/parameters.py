"""What a calibration on the made-up world is asked for, checked before anything runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from msgspec import UNSET

from aggregation.calibration.fitting import NAMES
from aggregation.errors import Problem
from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_reading import read_spec
from portal.lab import given as judged
from portal.tasks.starting_points import starting_point, starting_points

FEWEST, MOST = 3_000, 2_000_000
FEWEST_PER_REGION, MOST_PER_REGION = 500, 100_000
# The made-up world has 3,000 large regions; those to test on come on top.
_MOST_REGIONS: Final = 2_000
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
        judged.refuse_unknown(given, cls.__dataclass_fields__, "A calibration")
        if not isinstance(given.get("task"), str):
            raise Problem("A calibration needs a task.", hint="Give its spec, or a starting point.")
        said = {**asdict(cls("")), **given}
        found = cls(
            task=said["task"],
            epsilon=checked_epsilon(said["epsilon"]),
            devices=judged.whole(said["devices"], "devices", least=FEWEST, most=MOST),
            per_region=judged.whole(
                said["per_region"], "per_region", least=FEWEST_PER_REGION, most=MOST_PER_REGION
            ),
            seed=judged.seed(said["seed"]),
            fit=judged.one_of(said["fit"], NAMES, "fit"),
        )
        found._check()
        return found

    @property
    def spec(self) -> Spec:
        return named_spec(self.task)

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    def _check(self) -> None:
        if self.spec.step is not UNSET:
            raise Problem(
                "A task with a built-in step has nothing to calibrate.",
                hint="Calibrate the task whose sizes it counts.",
            )
        if self.devices / self.per_region > _MOST_REGIONS:
            raise Problem(
                f"{self.devices:,} devices, {self.per_region:,} in a region, live in more than "
                f"{_MOST_REGIONS:,} regions.",
                hint="Ask for fewer devices, or for more in a region.",
            )


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
    return judged.epsilon(value, least=_LEAST_EPSILON, largest=_LARGEST_EPSILON)
