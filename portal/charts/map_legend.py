"""The legend of a map: colours, sizes, what is not shown, what is uncertain.

Laid out for the large letters of a small screen; on a large one it is only airier.
"""

import math
from collections.abc import Iterable, Sequence

from portal.charts.map_look import FADES, WITHIN_NOISE, Look
from portal.charts.measure import cut, text_width
from portal.charts.scales import nice_step
from portal.charts.shapes import Mark, Place
from portal.charts.svg import Markup, join, tag, text
from portal.charts.words import is_finite, short

# Of a small screen, in the drawing's units.
_LETTERS = 22.0


def map_legend(
    look: Look, countries: Iterable[Mark], places: Sequence[Place], y: float
) -> tuple[Markup, float]:
    marks = list(countries)
    drawn: list[Markup] = []
    if look.is_coloured:
        drawn.append(_ramp(look, y))
        y += 68
    sizes, x = _sizes(look, y + 20) if look.largest else ([], 4.0)
    hidden = _hidden(look, marks, places, x, y + 20)
    drawn += [*sizes, *hidden]
    if sizes or hidden:
        y += 48
    unshaded = _unshaded(look, places, y + 14) if look.is_shaded else []
    drawn += unshaded
    if unshaded:
        y += 36
    if look.uncertainty:
        drawn.append(_fades(y + 12))
        y += 34
    return tag("g", *drawn, class_="map-legend"), y


def _ramp(look: Look, y: float) -> Markup:
    colours, words = look.ramp.colours, look.ramp.words
    step = look.frame.width / len(colours) if len(colours) > 1 else 120.0
    title = cut(look.colour_title, _LETTERS, look.frame.width)
    drawn = [text(title, 0.0, y + 16, "map-key")]
    for index, colour in enumerate(colours):
        box = {"x": index * step, "y": y + 26, "width": step - 1.5, "height": 12}
        drawn.append(tag("rect", **box, class_=colour))
    for index, word in enumerate(words):
        at = (index + 1) * step
        drawn.append(text(word, at, y + 58, "map-key", text_anchor="middle"))
    if look.ramp.range:
        drawn.append(text(look.ramp.range, step + 8, y + 39, "map-key"))
    return join(*drawn)


def _sizes(look: Look, y: float) -> tuple[list[Markup], float]:
    """The unit and discs of one or two round values; and where they end."""
    unit = cut(look.unit, _LETTERS, 200)
    drawn = [text(unit, 0.0, y + 8, "map-key")] if unit else []
    x = text_width(unit, _LETTERS) + 12 if unit else 0.0
    for value in _round_values(look.least, look.largest):
        radius, words = look.radius(value), _told(value)
        drawn.append(tag("circle", cx=x + radius, cy=y + 2, r=radius, class_="point"))
        drawn.append(text(words, x + 2 * radius + 7, y + 8, "map-key"))
        x += 2 * radius + 7 + text_width(words, _LETTERS) + 20
    return drawn, x


def _told(value: float) -> str:
    """As in a table: in full below a million."""
    return f"{value:,.0f}" if 1_000 <= value < 1e6 else short(value)


def _round_values(least: float, largest: float) -> list[float]:
    """Such as the map has: far apart where its values are, else from their range."""
    most = nice_step(largest * 0.45)
    if least <= most / 5:
        return [most, most / 5]
    step = nice_step((largest - least) / 2) if largest > least else largest
    ends = (math.floor(largest / step) * step, math.ceil(least / step) * step)
    return [one for one in dict.fromkeys(ends) if least <= one <= largest] or [largest]


def _hidden(
    look: Look, countries: Sequence[Mark], places: Sequence[Place], x: float, y: float
) -> list[Markup]:
    drawn: list[Markup] = []
    if not all(is_finite(mark) for mark in countries):
        box = {"x": x, "y": y - 6, "width": 20, "height": 16}
        hatch = tag("rect", **box, class_="hidden", fill=look.frame.pattern("hatch"))
        drawn.append(join(tag("rect", **box, class_="land"), hatch))
        x += 28
    if not all(is_finite(place.mark) for place in places):
        drawn.append(tag("circle", cx=x + 6, cy=y + 2, r=5, class_="ring"))
        x += 20
    if drawn:
        drawn.append(text("not shown", x, y + 8, "map-key"))
    return drawn


def _unshaded(look: Look, places: Sequence[Place], y: float) -> list[Markup]:
    """What has no colour of the ramp: because it could be noise, or because it is not known."""
    shown = [one for one in places if is_finite(one.mark)]
    drawn: list[Markup] = []
    x = 4.0
    if any(one.is_noise for one in look.colours.values()):
        box = {"x": x, "y": y - 6, "width": 20, "height": 16}
        drawn.append(tag("rect", **box, class_="noise", fill=look.frame.pattern("dots")))
        x += 28
    if any(one.shade and one.shade.is_noise for one in shown):
        drawn.append(tag("circle", cx=x + 7, cy=y + 2, r=7, class_="point noise"))
        x += 22
    if drawn:
        drawn.append(text(WITHIN_NOISE, x, y + 8, "map-key"))
        x += text_width(WITHIN_NOISE, _LETTERS) + 20
    if any(one.shade is None for one in shown):
        drawn.append(tag("circle", cx=x + 7, cy=y + 2, r=7, class_="point unknown"))
        drawn.append(text(look.unknown, x + 22, y + 8, "map-key"))
    return drawn


def _fades(y: float) -> Markup:
    """From certain to uncertain, by the half-width's part of the value."""
    drawn = []
    for index in range(len(FADES) + 1):
        fade = f"point f{index}" if index else "point"
        drawn.append(tag("circle", cx=10 + 22 * index, cy=y, r=8, class_=fade))
    words = f"fainter: interval over {', '.join(f'{100 * one:g}' for one in FADES)} %"
    return join(*drawn, text(words, 100.0, y + 6, "map-key"))
