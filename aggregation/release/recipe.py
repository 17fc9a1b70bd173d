"""What a release is computed with: the approved server config, its cells and its arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from aggregation.errors import Problem
from aggregation.mechanisms import Arithmetic, build_for
from aggregation.protocol.ranks import Cells, DomainOf
from aggregation.protocol.server_config import ServerConfig
from aggregation.release.clipping import ClipLaw


@dataclass(frozen=True, eq=False)
class Recipe:
    """All public, fixed at approval; one for all windows of a revision."""

    config: ServerConfig
    cells: Cells
    arithmetic: Arithmetic
    # Exactly the decimal text of the config.
    epsilon: Fraction
    # None where the task says nothing of clipping.
    clip: ClipLaw | None = None

    @classmethod
    def of(cls, config: ServerConfig, domain_of: DomainOf) -> Recipe:
        cells = Cells.of(config.keys, domain_of)
        arithmetic = build_for(config.mechanism, cells, config.metrics)
        given = config.clip_uncertainty
        clip = ClipLaw.of(given, config.metrics) if given else None
        return cls(config, cells, arithmetic, _positive(config.epsilon), clip)

    @property
    def metrics(self) -> tuple[str, ...]:
        return self.config.metrics

    @property
    def shape(self) -> tuple[int, int]:
        """Declared cells × metrics: what is summed, and what is noised."""
        return self.cells.size, len(self.metrics)


def _positive(text: str) -> Fraction:
    try:
        epsilon = Fraction(text)
    except (ValueError, ZeroDivisionError):
        epsilon = Fraction(0)
    if epsilon <= 0:
        raise Problem(f"{text[:40]!r} is no ε to release with.", hint="It is a positive decimal.")
    return epsilon
