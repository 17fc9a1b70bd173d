"""How marks on a map look: one answer for the drawing and its legend."""

import math
from dataclasses import dataclass

from portal.charts.frame import Frame
from portal.charts.ramps import Ramp
from portal.charts.shapes import Mark, Place

# A point of no value and one of the largest, in the drawing's units.
SMALLEST, LARGEST = 2.2, 20.0
# Half-widths above these parts of the value are fainter by a step.
FADES = (0.05, 0.15, 0.4)


@dataclass(frozen=True)
class Look:
    frame: Frame
    unit: str
    ramp: Ramp
    colour_title: str
    # A country's share or change, where colours are not values.
    colours: dict[str, float]
    # Whether a country's colour is its own value.
    by_value: bool
    # Whether anything has a colour that the legend must explain.
    is_coloured: bool
    # The value of the largest point.
    largest: float
    uncertainty: bool
    # So many points that a tooltip says only the most important.
    terse: bool

    def radius(self, value: float) -> float:
        """Areas stand for values; what is zero or less has the smallest point."""
        least = SMALLEST * (0.7 if self.terse else 1)
        if value <= 0 or not self.largest:
            return least
        return max(least, LARGEST * math.sqrt(value / self.largest))

    def country(self, code: str, mark: Mark) -> str | None:
        """The colour of a country with a value; None leaves it plain."""
        value = mark.value if self.by_value else self.colours.get(code)
        return None if value is None else self.ramp.colour(value) + self.fade(mark)

    def place(self, place: Place) -> str:
        plain = place.colour is None
        colour = "point" if plain else f"point {self.ramp.colour(place.colour or 0.0)}"
        return colour + self.fade(place.mark)

    def fade(self, mark: Mark) -> str:
        if not self.uncertainty or mark.half_width is None or mark.value is None:
            return ""
        part = abs(mark.half_width / mark.value) if mark.value else math.inf
        step = sum(part > limit for limit in FADES)
        return f" f{step}" if step else ""
