"""Forecast: how large the noise will be, and what it leaves to see. Exact, and public.

Noise depends on ε and the mechanism's parameters alone, never on anybody's data, so it is known
before the first device has contributed: per slice and metric the half-width that the noise stays
within with probability 95 %, and the smallest value that suppression lets through.
"""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from aggregation.compiler import Compiled
from aggregation.mechanisms import build_for
from aggregation.mechanisms.noise_law import noise_of
from aggregation.protocol.ranks import Cells
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit
from aggregation.release.suppression import is_asked, smallest_kept

LEVEL = 0.95
# Slices whose noise is worked out; a mechanism may have thousands.
_SHOWN = 60


@dataclass(frozen=True)
class MetricNoise:
    metric: str
    # The noise stays within ± this with probability `LEVEL`.
    half_width: float
    mean: float
    # Below this a cell is suppressed on account of this metric; none where it is not asked.
    smallest: float | None
    is_hidden: bool


@dataclass(frozen=True)
class SliceNoise:
    name: str
    metrics: tuple[MetricNoise, ...]


@dataclass(frozen=True)
class Forecast:
    slices: tuple[SliceNoise, ...]
    # Slices that are not listed.
    more: int
    max_relative_noise: float
    cells: int


def forecast(compiled: Compiled, catalog: Catalog) -> Forecast:
    config = compiled.server_config
    cells = Cells.of(config.keys, catalog.domain)
    arithmetic = build_for(config.mechanism, cells, config.metrics)
    noise = noise_of(arithmetic.decoding[:_SHOWN], epsilon=float(config.epsilon), level=LEVEL)
    slices = [
        SliceNoise(name, tuple(_metrics(config, widths, means)))
        for name, widths, means in zip(
            arithmetic.slicing.names,
            noise.half_width.tolist(),
            noise.mean_abs.tolist(),
            strict=False,  # the first slices only
        )
    ]
    return Forecast(
        slices=tuple(slices),
        more=len(arithmetic.slicing) - len(slices),
        max_relative_noise=config.suppression.max_relative_noise,
        cells=cells.size,
    )


def _metrics(config: ServerConfig, widths: list[float], means: list[float]) -> list[MetricNoise]:
    rule = config.suppression
    return [
        MetricNoise(
            metric=metric,
            half_width=width,
            mean=mean,
            smallest=smallest_kept(rule, mean) if is_asked(rule, metric) else None,
            is_hidden=metric in config.hidden,
        )
        for metric, width, mean in zip(config.metrics, widths, means, strict=True)
    ]


# The most windows of a unit that overlap one civil week: the end of a month can lie in it.
WINDOWS_IN_A_WEEK = {Unit.HOUR: 168, Unit.DAY: 7, Unit.WEEK: 1, Unit.MONTH: 2}


def weekly_cost(epsilon: Decimal, unit: Unit) -> Decimal:
    """The most that a task reserves in one civil week."""
    return epsilon * WINDOWS_IN_A_WEEK[unit]


def largest_epsilon(unit: Unit, cap: Decimal) -> Decimal:
    """The largest ε, in hundredths, that a task of this unit may have under a weekly cap."""
    return (cap / WINDOWS_IN_A_WEEK[unit]).quantize(Decimal("0.01"), rounding=ROUND_FLOOR)
