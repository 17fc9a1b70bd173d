"""The places of a map: discs by size and colour, rings where a number is not shown."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from portal.charts.map_look import SMALLEST, Look
from portal.charts.measure import text_width
from portal.charts.projection import View
from portal.charts.shapes import Mark, Place
from portal.charts.svg import Markup, escape, linked, tag, text
from portal.charts.words import is_finite, tooltip

# Letters of labels on a large and on a small screen, in the drawing's units.
_SIZES = (11.5, 23.0)
# Between a disc and its name.
_BESIDE = 3
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Spot:
    """A place where it lies on the drawing."""

    place: Place
    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Label:
    """A place's name beside its disc."""

    spot: Spot
    is_left: bool = False

    @property
    def name(self) -> str:
        """Without the country, which the map shows."""
        return self.spot.place.label.split(",")[0][:24]

    def words(self, size: float) -> Box:
        near = self.spot.radius + _BESIDE
        far = near + text_width(self.name, size)
        left, right = (-far, -near) if self.is_left else (near, far)
        x, y = self.spot.x, self.spot.y
        return x + left, y - size * 0.75, x + right, y + size * 0.75

    def whole(self, size: float) -> Box:
        """With the disc."""
        left, top, right, bottom = self.words(size)
        x, radius = self.spot.x, self.spot.radius
        return min(left, x - radius), top, max(right, x + radius), bottom


def draw_places(look: Look, places: Sequence[Place], view: View, *, labels: int) -> Markup:
    """Rings first, then discs from large to small, so that none hides another; then names."""
    spots = [spot for spot in (_spot(look, place, view) for place in places) if spot]
    shown = [spot for spot in spots if is_finite(spot.place.mark)]
    hidden = [spot for spot in spots if not is_finite(spot.place.mark)]
    shown.sort(key=lambda spot: -spot.radius)
    drawn = [_drawn(look, spot) for spot in (*hidden, *shown)]
    return tag("g", *drawn, *_names(shown, view, labels), class_="places")


def _spot(look: Look, place: Place, view: View) -> Spot | None:
    at = view.at(place.longitude, place.latitude)
    if at is None or not view.holds(*at):
        return None
    value = place.mark.value if is_finite(place.mark) else None
    radius = SMALLEST + 0.6 if value is None else look.radius(value)
    return Spot(place, *at, radius)


def _drawn(look: Look, spot: Spot) -> Markup:
    place, mark = spot.place, spot.place.mark
    kind = look.place(place) if is_finite(mark) else "ring"
    # Thousands of them: written here at once, in a third of the time that tags would take.
    disc = f'<circle cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{spot.radius:.1f}" class="{kind}">'
    said = f"<title>{escape(_said(look, place))}</title></circle>"
    return linked(Markup(disc + said), mark.href)


def _said(look: Look, place: Place) -> str:
    mark = place.mark
    if look.terse and mark.note:
        mark = Mark(mark.value, mark.half_width)
    words = tooltip(place.label, mark, look.unit)
    return words + look.said(place.shade) if is_finite(mark) else words


def _names(spots: Sequence[Spot], view: View, most: int) -> list[Markup]:
    """The largest places by name, beside their discs: where neither touches what is written
    already, and the name no disc that it could be taken for the name of. What finds room only in
    small letters is left out on a small screen."""
    taken: dict[float, list[Box]] = {size: [] for size in _SIZES}
    drawn: list[Markup] = []
    for spot in spots[: 3 * most]:
        label, fits = _fitting(spot, spots, view, taken)
        if _SIZES[0] not in fits or len(drawn) == most:
            continue
        for size in fits:
            taken[size].append(label.words(size))
        drawn.append(_written(label, is_spare=len(fits) < len(_SIZES)))
    return drawn


def _fitting(
    spot: Spot, spots: Sequence[Spot], view: View, taken: Mapping[float, Sequence[Box]]
) -> tuple[Label, list[float]]:
    """On the side with room for larger letters, rather on the right; and the sizes that fit."""
    found = []
    for label in (Label(spot), Label(spot, is_left=True)):
        sizes = [size for size in _SIZES if _room(label, size, spots, view, taken[size])]
        found.append((label, sizes))
    return max(found, key=lambda one: (_SIZES[0] in one[1], len(one[1])))


def _room(
    label: Label, size: float, spots: Sequence[Spot], view: View, taken: Sequence[Box]
) -> bool:
    words = label.words(size)
    if words[0] < 0 or words[2] > view.width or words[1] < 0 or words[3] > view.height:
        return False
    whole = label.whole(size)
    return not any(_touch(whole, other) for other in taken) and not any(
        _covers(words, other) for other in spots if _is_rival(other, label.spot)
    )


def _is_rival(other: Spot, spot: Spot) -> bool:
    """Much smaller discs are too many to keep free of names, and not taken for the named one."""
    return other is not spot and other.radius > spot.radius / 2


def _covers(box: Box, spot: Spot) -> bool:
    aside = max(box[0] - spot.x, 0.0, spot.x - box[2])
    away = max(box[1] - spot.y, 0.0, spot.y - box[3])
    return math.hypot(aside, away) < spot.radius


def _written(label: Label, *, is_spare: bool) -> Markup:
    spot = label.spot
    kind = "place-name spare" if is_spare else "place-name"
    x = spot.radius + _BESIDE
    side = {"text_anchor": "end"} if label.is_left else {}
    words = text(label.name, -x if label.is_left else x, 4, kind, **side)
    # Written around its place, so that a page that enlarges the map need not enlarge it.
    return tag("g", words, transform=f"translate({spot.x:.1f} {spot.y:.1f})")


def _touch(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
