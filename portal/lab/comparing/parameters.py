"""What a comparison is asked for, checked before anything runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from aggregation.calibration.fitting import NAMES
from portal.lab import given as judged

FEWEST, MOST = 10_000, 2_000_000
_LEAST_EPSILON, _LARGEST_EPSILON = 0.05, 64.0
_MOST_EPSILONS, _MOST_SEEDS = 12, 10
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
        judged.refuse_unknown(given, cls.__dataclass_fields__, "A comparison")
        said = {**asdict(cls()), **given}
        epsilons = judged.several(said["epsilons"], "Values of ε", most=_MOST_EPSILONS)
        seeds = judged.several(said["seeds"], "Seeds", most=_MOST_SEEDS)
        mechanisms = judged.several(said["mechanisms"], "Mechanisms", most=len(NAMES))
        return cls(
            devices=judged.whole(
                said["devices"],
                "The number of devices",
                least=FEWEST,
                most=MOST,
                hint="The paper's 10,000 in a region: 1,000,000 make 100.",
            ),
            epsilons=tuple(map(_epsilon, epsilons)),
            seeds=tuple(map(judged.seed, seeds)),
            people=judged.one_of(said["people"], PEOPLE, "kind of people"),
            mechanisms=tuple(judged.one_of(name, NAMES, "mechanism") for name in mechanisms),
        )

    def plain(self) -> dict[str, Any]:
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


def _epsilon(value: object) -> float:
    return judged.epsilon(value, least=_LEAST_EPSILON, largest=_LARGEST_EPSILON)
