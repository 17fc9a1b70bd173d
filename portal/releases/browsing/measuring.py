"""Amounts as they are, as shares of a sum, or per inhabitant: each with its interval."""

from __future__ import annotations

import math
from dataclasses import replace

from portal.releases.reading import Number
from portal.streams.gazetteer import gazetteer

# Amounts are told per so many inhabitants.
PER = 1000


def share(part: Number, whole: Number) -> Number:
    """Percent. Errors of both count as if they were apart, which is wider than what is true."""
    if part.value is None or not whole.value or whole.value <= (whole.half_width or 0.0):
        return without(part)
    ratio = part.value / whole.value
    error = math.hypot(part.half_width or 0.0, ratio * (whole.half_width or 0.0)) / whole.value
    return replace(part, value=100 * ratio, half_width=100 * error)


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
