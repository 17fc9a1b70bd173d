"""The countries of a map: coloured, hatched where not shown, plain where nothing was asked."""

from collections.abc import Mapping

from portal.charts.boundaries import country_names, near, world
from portal.charts.map_look import Look
from portal.charts.outlines import FINENESS
from portal.charts.projection import View
from portal.charts.shapes import Mark
from portal.charts.svg import Markup, join, linked, tag
from portal.charts.words import is_finite, tooltip


def draw_countries(
    look: Look, countries: Mapping[str, Mark], paths: Mapping[str, str], view: View, within: str
) -> Markup:
    """Outlines first; states too small for one are a dot. Near by a country, it is the ground
    its places are drawn on: without a colour of its own."""
    plain = "".join(path for code, path in paths.items() if code not in {*countries, within})
    # Beside coloured countries, one without a number must not look like a colour.
    kind = "land" if within or not countries else "land blank"
    drawn = [tag("path", d=plain, class_=kind)] if plain else []
    if within in paths:
        drawn.append(_home(look, within, countries.get(within), paths[within]))
    for code, mark in sorted(countries.items()):
        if code in paths and code != within:
            drawn.append(_country(look, code, mark, paths[code]))
    outlines = tag("g", *drawn, transform=f"scale({1 / FINENESS:g})", class_="countries")
    if within:
        return outlines
    dots = [_dot(look, code, mark, view) for code, mark in sorted(countries.items())]
    return join(outlines, *dots)


def _home(look: Look, code: str, mark: Mark | None, path: str) -> Markup:
    shape = tag("path", d=path, class_="land home")
    if mark is None:
        return shape
    said = tag("title", _said(look, code, mark))
    return linked(tag("g", said, shape, class_="mark"), mark.href)


def _country(look: Look, code: str, mark: Mark, path: str) -> Markup:
    said = tag("title", _said(look, code, mark))
    if is_finite(mark):
        shape = _filled(look, look.country(code, mark), path)
    else:
        hatch = tag("path", d=path, class_="hidden", fill=look.frame.pattern("wide-hatch"))
        shape = join(tag("path", d=path, class_="land"), hatch)
    return linked(tag("g", said, shape, class_="mark"), mark.href)


def _filled(look: Look, kind: str, path: str) -> Markup:
    """What is within the noise has dots: no plain colour can be taken for one of the ramp."""
    fill = look.frame.pattern("wide-dots") if kind == "noise" else None
    return tag("path", d=path, class_=kind, fill=fill)


def _dot(look: Look, code: str, mark: Mark, view: View) -> Markup:
    shape = near().get(code)
    at = view.at(*shape.centre) if shape and code not in world() else None
    if at is None or not view.holds(*at):
        return Markup("")
    kind = look.country(code, mark) if is_finite(mark) else "ring"
    dot = tag("circle", cx=at[0], cy=at[1], r=3.2, class_=f"state {kind}")
    said = tag("title", _said(look, code, mark))
    return linked(tag("g", said, dot, class_="mark"), mark.href)


def _said(look: Look, code: str, mark: Mark) -> str:
    words = tooltip(country_names().get(code, code), mark, look.unit)
    return words + look.said(look.colours.get(code))
