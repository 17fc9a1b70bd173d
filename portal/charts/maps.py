"""Maps: countries in steps of colour, places as points; the world, a part of it, or one country
near by."""

from collections.abc import Mapping, Sequence

from portal.charts.areas import AREAS
from portal.charts.boundaries import near
from portal.charts.countries import draw_countries
from portal.charts.frame import LARGE, Frame, finished, notes, sentence
from portal.charts.map_legend import map_legend
from portal.charts.map_look import Look, dots
from portal.charts.measure import wrap
from portal.charts.outlines import area_paths, country_paths, world_paths
from portal.charts.points import draw_places
from portal.charts.projection import View
from portal.charts.ramps import ramp_for
from portal.charts.shapes import Mark, Place, Shade
from portal.charts.svg import Markup, join, name_of, tag, text
from portal.charts.views import area_view, country_view, world_view
from portal.charts.words import is_finite, nothing_shown

# The drawing's own units: it is scaled to the room it gets, and charts.css keeps text readable.
WIDTH = 720
# Maps lower than this part of their width are wide.
_LOW = 0.55


def world_map(
    countries: Mapping[str, Mark],
    places: Sequence[Place],
    *,
    title: str,
    unit: str,
    colour_title: str = "",
    colour_unit: str = "%",
    colours: Mapping[str, Shade] | None = None,
    diverging: bool = False,
    within: str = "",
    uncertainty: bool = False,
    heading: bool = True,
    name: str = "",
    remarks: Sequence[str] = (),
) -> str:
    """Countries by ISO alpha-2 code, and places.

    Without `colours`, a country's colour is its value. With them (or with places that have a
    shade), all colours are one share or change, called `colour_title`, and a place's size is
    its value; what could be noise alone has none of the colours. `within` shows that country
    alone, with all its places, or an area of `AREAS`. `uncertainty` makes marks fainter the wider
    their interval is. `remarks` stand below the legend.
    """
    made_of = (name, sorted(countries.items()), places, title, unit, colour_title, colour_unit)
    rest = (sorted((colours or {}).items()), diverging, within, uncertainty)
    frame = Frame(name_of("map", *made_of, *rest), WIDTH, title, heading)
    marks = [*countries.values(), *(place.mark for place in places)]
    if not any(is_finite(mark) for mark in marks):
        return sentence(frame, nothing_shown(marks))
    drawn = {code: one for code, one in (colours or {}).items() if code != within}
    given = [*drawn.values(), *(one.shade for one in places if one.shade is not None)]
    by_value = [
        mark.value for code, mark in countries.items() if is_finite(mark) and code != within
    ]
    clear = [one.value for one in given if not one.is_noise]
    values = clear if given else [value for value in by_value if value is not None]
    signed = bool(given) or min(values, default=0) < 0
    sign = "%" if given and colour_unit == "%" else ""
    sizes = [one.mark.value or 0.0 for one in places if is_finite(one.mark)]
    look = Look(
        frame=frame,
        unit=unit,
        # Values that are all above zero have nothing to part at zero.
        ramp=ramp_for(values, diverging=diverging and signed, sign=sign, least=_usual(given)),
        colour_title=(colour_title or "share") if given else unit,
        colour_unit=colour_unit,
        colours=dict(colours or {}),
        by_value=bool(by_value) and not given,
        is_shaded=bool(given),
        is_signed=diverging,
        is_coloured=bool(values),
        least=min(sizes, default=0.0),
        largest=max(sizes, default=0.0),
        is_world=not within,
        uncertainty=uncertainty,
        terse=len(places) > 600,
    )
    return _drawn(look, countries, places, within, remarks)


def in_sight(area: str, longitude: float, latitude: float) -> bool:
    """Whether the map of an area shows that place."""
    view = area_view(area, WIDTH)
    at = view.at(longitude, latitude)
    return at is not None and view.holds(*at)


def _usual(shades: Sequence[Shade]) -> float:
    """The half-width that half of the shades have at most."""
    widths = sorted(one.half_width for one in shades if one.half_width is not None)
    return widths[len(widths) // 2] if widths else 0.0


def _drawn(
    look: Look,
    countries: Mapping[str, Mark],
    places: Sequence[Place],
    within: str,
    remarks: Sequence[str],
) -> str:
    frame = look.frame
    view, paths, home = _ground(places, within)
    land = draw_countries(look, countries, paths, view, home)
    discs = draw_places(look, places, view, labels=14 if within else 8)
    title, top = _heading(frame)
    stage = _stage(view.width, view.height, top, [land, discs])
    keys, bottom = map_legend(look, countries.values(), places, top + view.height + 10)
    small, bottom = notes(frame, remarks, bottom)
    said = _description(look, countries, places)
    content = [dots(frame), title, stage, keys, small]
    # The whole world would be too low on a small screen: there it is wider than the screen.
    kind = "chart chart-map" + (" wide-map" if view.height < _LOW * view.width else "")
    return finished(frame, height=bottom, description=said, content=content, kind=kind)


def _ground(places: Sequence[Place], within: str) -> tuple[View, Mapping[str, str], str]:
    """What is seen, the outlines on it, and the country it is about, if any."""
    if within in AREAS:
        return area_view(within, WIDTH), area_paths(within, WIDTH), ""
    points = [(one.longitude, one.latitude) for one in places]
    view = country_view(near().get(within), points, WIDTH) if within else None
    if view is None:
        return world_view(WIDTH), world_paths(WIDTH), ""
    return view, country_paths(view), within


def _stage(width: float, height: float, top: float, content: Sequence[Markup]) -> Markup:
    """A drawing of its own inside the chart: what a page may zoom without moving the legend."""
    sea = tag("rect", width=width, height=height, class_="sea")
    return tag(
        "svg",
        sea,
        *content,
        y=top,
        width=width,
        height=height,
        viewBox=f"0 0 {width:g} {height:.1f}",
        class_="map-stage",
        role="none",
        overflow="hidden",
    )


def _heading(frame: Frame) -> tuple[Markup, float]:
    """As in other charts, with room for the larger letters of a small screen."""
    if not frame.heading:
        return Markup(""), 0.0
    lines = wrap(frame.title, 1.7 * LARGE, frame.width)
    drawn = [text(one, 0.0, 22 + 32.0 * i, "chart-title") for i, one in enumerate(lines)]
    return join(*drawn), 4 + 32.0 * len(lines)


def _description(look: Look, countries: Mapping[str, Mark], places: Sequence[Place]) -> str:
    marks = [*countries.values(), *(one.mark for one in places)]
    hidden = [mark for mark in marks if not is_finite(mark)]
    words = f"A map of {len(countries)} countries and {len(places)} places, in {look.unit}."
    if not hidden:
        return words
    reasons = "; ".join(sorted({mark.note for mark in hidden if mark.note})[:5])
    words += f" {len(hidden)} of these numbers are not shown"
    return f"{words}: {reasons}." if reasons else f"{words}."
