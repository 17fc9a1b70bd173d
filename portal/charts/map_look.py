"""How marks on a map look: one answer for the drawing and its legend."""

import math
from dataclasses import dataclass

from portal.charts.frame import Frame
from portal.charts.ramps import Ramp
from portal.charts.rounding import places_of, rounded, signed, span
from portal.charts.shapes import Mark, Place, Shade
from portal.charts.svg import Markup, join, tag
from portal.charts.words import spoken

# A point of no value and one of the largest, in the drawing's units. On a map of the world, places
# of one country lie close to each other.
SMALLEST, LARGEST, LARGEST_OF_WORLD = 2.2, 20.0, 12.0
# Half-widths above these parts of the value are fainter by a step.
FADES = (0.05, 0.15, 0.4)
WITHIN_NOISE = "within the noise"


@dataclass(frozen=True)
class Look:
    frame: Frame
    unit: str
    ramp: Ramp
    colour_title: str
    colour_unit: str
    # A country's share or change, where colours are not values.
    colours: dict[str, Shade]
    # Whether a country's colour is its own value.
    by_value: bool
    # Whether colours are shares or changes: what has none of its own is not known.
    is_shaded: bool
    # Whether what grew is told with a plus.
    is_signed: bool
    # Whether anything has a colour that the legend must explain.
    is_coloured: bool
    # The values of the smallest and the largest point.
    least: float
    largest: float
    # Whether all of the world is seen.
    is_world: bool
    uncertainty: bool
    # So many points that a tooltip says only the most important.
    terse: bool

    def radius(self, value: float) -> float:
        """Areas stand for values; what is zero or less has the smallest point."""
        least = SMALLEST * (0.7 if self.terse else 1)
        if value <= 0 or not self.largest:
            return least
        room = LARGEST_OF_WORLD if self.is_world else LARGEST
        return max(least, room * math.sqrt(value / self.largest))

    def country(self, code: str, mark: Mark) -> str:
        """How a country with a value is filled."""
        if self.by_value:
            return self.ramp.colour(mark.value or 0.0) + self.fade(mark)
        shade = self.colours.get(code)
        if shade is None:
            return "blank" if self.is_shaded else "land"
        return "noise" if shade.is_noise else self.ramp.colour(shade.value) + self.fade(mark)

    def place(self, place: Place) -> str:
        shade = place.shade
        if shade is None:
            return "point unknown" if self.is_shaded else "point" + self.fade(place.mark)
        if shade.is_noise:
            return "point noise"
        return f"point {self.ramp.colour(shade.value)}{self.fade(place.mark)}"

    def said(self, shade: Shade | None) -> str:
        """What a tooltip says of a colour: `; change +12 %, from +7 to +18 %`."""
        if shade is None:
            return ""
        words = self._interval(shade)
        if self.terse:
            return f"; {words}"
        noise = f", {WITHIN_NOISE}" if shade.is_noise else ""
        return f"; {self.colour_title} {words}{noise}"

    def _interval(self, shade: Shade) -> str:
        if shade.ends is not None:
            range_ = f"{span(*shade.ends)} {self.colour_unit}".strip()
            return range_ if self.terse else f"{self._middle(shade)}, from {range_}"
        words = spoken(Mark(shade.value, shade.half_width), self.colour_unit)
        # What rounds to zero has no sign.
        is_more = rounded(shade.value, places_of(shade.half_width or 0.0)) > 0
        return f"+{words}" if self.is_signed and is_more else words

    def _middle(self, shade: Shade) -> str:
        return f"{signed(shade.value, places_of(shade.half_width or 0.0))} {self.colour_unit}"

    @property
    def unknown(self) -> str:
        """What the legend says of a place with a size and no colour."""
        return "no comparison" if self.is_signed else "not known"

    def fade(self, mark: Mark) -> str:
        if not self.uncertainty or mark.half_width is None or mark.value is None:
            return ""
        part = abs(mark.half_width / mark.value) if mark.value else math.inf
        step = sum(part > limit for limit in FADES)
        return f" f{step}" if step else ""


def dots(frame: Frame) -> Markup:
    """What countries within the noise are filled with: on the land, and in the legend."""
    return tag("defs", _dots(f"{frame.name}-dots", 7), _dots(f"{frame.name}-wide-dots", 28))


def _dots(name: str, size: int) -> Markup:
    ground = tag("rect", width=size, height=size, class_="dots-ground")
    dot = tag("circle", cx=size / 2, cy=size / 2, r=size / 5, class_="dots")
    box = {"width": size, "height": size, "patternUnits": "userSpaceOnUse"}
    return tag("pattern", join(ground, dot), id=name, **box)
