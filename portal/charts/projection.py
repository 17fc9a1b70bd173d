"""From longitude and latitude to the drawing: Equal Earth for the world, Lambert's azimuthal
equal-area projection for one country. Both keep areas true."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

# x to the right and y down, in radii of the earth; None where the point cannot be seen.
Projection = Callable[[float, float], tuple[float, float] | None]

_A = (1.340264, -0.081106, 0.000893, 0.003796)


def equal_earth(longitude: float, latitude: float) -> tuple[float, float]:
    """Šavrič, Patterson and Jenny (2018)."""
    theta = math.asin(math.sqrt(3) / 2 * math.sin(math.radians(latitude)))
    square = theta * theta
    sixth = square**3
    slope = 9 * _A[3] * sixth * square + 7 * _A[2] * sixth + 3 * _A[1] * square + _A[0]
    x = 2 * math.sqrt(3) * math.radians(longitude) * math.cos(theta) / (3 * slope)
    y = theta * (_A[3] * sixth * square + _A[2] * sixth + _A[1] * square + _A[0])
    return x, -y


@lru_cache(maxsize=64)
def azimuthal(centre: tuple[float, float]) -> Projection:
    """Around a centre; what lies beyond the horizon has no place. The same for the same centre, so
    that views can be compared."""
    middle, tilt = math.radians(centre[0]), math.radians(centre[1])
    sin_tilt, cos_tilt = math.sin(tilt), math.cos(tilt)

    def project(longitude: float, latitude: float) -> tuple[float, float] | None:
        turn, height = math.radians(longitude) - middle, math.radians(latitude)
        sin_height, flat = math.sin(height), math.cos(height)
        facing = sin_tilt * sin_height + cos_tilt * flat * math.cos(turn)
        if facing < -0.2:
            return None
        scale = math.sqrt(2 / (1 + facing))
        up = cos_tilt * sin_height - sin_tilt * flat * math.cos(turn)
        return scale * flat * math.sin(turn), -scale * up

    return project


@dataclass(frozen=True)
class View:
    """A projection with the part of it that is drawn, and how large."""

    project: Projection
    left: float
    top: float
    scale: float
    width: float
    height: float

    def at(self, longitude: float, latitude: float) -> tuple[float, float] | None:
        found = self.project(longitude, latitude)
        if found is None:
            return None
        return (found[0] - self.left) * self.scale, (found[1] - self.top) * self.scale

    def holds(self, x: float, y: float, margin: float = 0.0) -> bool:
        return -margin <= x <= self.width + margin and -margin <= y <= self.height + margin
