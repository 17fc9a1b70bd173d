"""What a study of reach is asked for, checked before anything runs."""

from dataclasses import asdict, dataclass
from typing import Any

from aggregation.errors import Problem
from devices_sim.fleet.ladder_study import FEWEST, MOST


@dataclass(frozen=True)
class Parameters:
    phones: int = 200_000
    seed: int = 1

    @classmethod
    def of(cls, given: dict[str, Any]) -> "Parameters":
        """From JSON; what is wrong is a sentence."""
        if unknown := sorted(set(given) - {"phones", "seed"}):
            raise Problem(
                f"A study of reach knows no {unknown[0]!r}.", hint="It knows phones and seed."
            )
        phones = _whole(given.get("phones", cls.phones), "The number of phones")
        seed = _whole(given.get("seed", cls.seed), "A seed")
        if not FEWEST <= phones <= MOST:
            raise Problem(
                f"A study of reach has {FEWEST:,} to {MOST:,} phones, not {phones:,}.",
                hint="200,000 are enough for figures to a few tenths of a percent.",
            )
        return cls(phones, seed)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def _whole(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise Problem(f"{what} is a whole number from 0, not {value!r}.")
    return value
