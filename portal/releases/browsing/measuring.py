"""Amounts as they are, as shares of a sum, or per inhabitant: each with its interval."""

from __future__ import annotations

from dataclasses import replace

from portal.releases.browsing.dividing import within
from portal.releases.reading import Number
from portal.streams.gazetteer import gazetteer

# Amounts are told per so many inhabitants.
PER = 1000


def share(part: Number, whole: Number) -> Number:
    """Percent of a whole that the part is one of, with the interval that `dividing` derives."""
    if part.value is None or not whole.value or whole.value <= (whole.half_width or 0.0):
        return without(part)
    reach = within(part, whole)
    if reach is None:
        return without(part)
    return replace(part, value=100 * part.value / whole.value, half_width=100 * reach)


def per_inhabitant(number: Number, geonameid: str) -> Number:
    """By the population that the list of places has, which is not released and has no noise."""
    place = gazetteer().places.get(geonameid)
    if place is None or not place.population:
        return without(number)
    return scaled(number, PER / place.population)


def scaled(number: Number, factor: float) -> Number:
    if number.value is None:
        return number
    return replace(
        number, value=number.value * factor, half_width=(number.half_width or 0.0) * abs(factor)
    )


def without(number: Number) -> Number:
    return replace(number, value=None, half_width=None)
