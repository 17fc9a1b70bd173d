"""What a study of reach is asked for, checked before anything runs."""

from dataclasses import asdict, dataclass
from typing import Any

from devices_sim.fleet.ladder_study import FEWEST, MOST
from portal.lab import given as judged


@dataclass(frozen=True)
class Parameters:
    phones: int = 200_000
    seed: int = 1

    @classmethod
    def of(cls, given: dict[str, Any]) -> "Parameters":
        """From JSON; what is wrong is a sentence."""
        judged.refuse_unknown(given, cls.__dataclass_fields__, "A study of reach")
        phones = judged.whole(
            given.get("phones", cls.phones),
            "The number of phones",
            least=FEWEST,
            most=MOST,
            hint="200,000 are enough for figures to a few tenths of a percent.",
        )
        return cls(phones, judged.seed(given.get("seed", cls.seed)))

    def plain(self) -> dict[str, Any]:
        return asdict(self)
