"""Amounts as they are, as shares of a sum, or per inhabitant: each with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from portal.releases.browsing.dividing import beside, within
from portal.releases.reading import Number
from portal.streams.gazetteer import gazetteer

# Amounts are told per so many inhabitants.
PER = 1000


def share(part: Number, whole: Number) -> Number:
    """Percent of a whole that the part is one of, with the interval that `dividing` derives."""
    if part.value is None or not whole.value or whole.value <= (whole.half_width or 0.0):
        return without(part)
    return _percent(part, whole.value, within(part, whole))


def share_beside(part: Number, rest: Number) -> Number:
    """Percent of itself and the rest together."""
    if part.value is None or rest.value is None:
        return without(part)
    return _percent(part, part.value + rest.value, beside(part, rest))


def _percent(part: Number, whole: float, reach: float | None) -> Number:
    if part.value is None or reach is None:
        return without(part)
    return replace(part, value=100 * part.value / whole, half_width=100 * reach)


def added(numbers: Sequence[Number]) -> Number:
    """The sum of numbers that share no cell. Noise was drawn apart, so its squares add; what
    clipping moved may go all one way, as it does for the phones of one place, so it adds up."""
    noise = math.hypot(*(one.noise or 0.0 for one in numbers))
    clip = sum(one.clip_uncertainty or 0.0 for one in numbers)
    return Number(
        column=numbers[0].column,
        value=sum(one.value or 0.0 for one in numbers),
        half_width=math.hypot(noise, clip),
        noise=noise,
        clip_correction=None,
        clip_uncertainty=clip,
        notes=(),
    )


def in_all(parts: Sequence[Number], whole: Number | None) -> Number:
    """The sum of those parts that are shown. Where all are, it is the whole as it is released: its
    interval knows how far clipping moves them together, and a page with it alone says the same."""
    shown = [one for one in parts if one.value is not None]
    if whole is not None and whole.value is not None and len(shown) == len(parts):
        return whole
    return added(shown) if shown else without(parts[0])


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


def with_part_changed(whole: Number, part: Number, changed: Number) -> Number:
    """The whole T, of which the part D is another, D′: T + D′ − D, and D′ is D scaled.

    D's error is in T, too, so the two are not apart: squares of their widths would add to too
    little where D′ is the wider. Noise was drawn apart in D and in the rest, so the width's square
    is w_T² + w_D′² − w_D², which is no more than the square of

        w = w_T + w_D′ − w_D,

    as D is a part of T; what clipping moved all one way adds up to that. It is exact where nothing
    changes and where D is all of T, and a little wide between. Where D′ is the narrower, w = w_T:
    to take D's share out of it would be too narrow for Laplace noise, whose squares add to more.
    """
    if whole.value is None or part.value is None or changed.value is None:
        return without(whole)
    wider = max(0.0, (changed.half_width or 0.0) - (part.half_width or 0.0))
    value = whole.value + changed.value - part.value
    width = (whole.half_width or 0.0) + wider
    return Number(whole.column, value, width, None, None, None, whole.notes)


def each_scaled(whole: Number, parts: Sequence[tuple[Number, float]], rest_factor: float) -> Number:
    """The whole, of which some parts are multiplied by a factor each, and the rest by one.

    Noise was drawn apart for each cell, so the squares of the parts' widths add, and the rest has
    what they leave of the whole's. What clipping moved grows as the value does.
    """
    if not whole.value:
        return whole
    left = whole.value - sum(part.value or 0.0 for part, _ in parts)
    value = rest_factor * left + sum(factor * (part.value or 0.0) for part, factor in parts)
    squares = (whole.noise or 0.0) ** 2 - sum((part.noise or 0.0) ** 2 for part, _ in parts)
    of_parts = [factor * (part.noise or 0.0) for part, factor in parts]
    noise = math.hypot(rest_factor * math.sqrt(max(0.0, squares)), *of_parts)
    clip = (whole.clip_uncertainty or 0.0) * abs(value / whole.value)
    return replace(whole, value=value, half_width=math.hypot(noise, clip))


def is_nothing(number: Number) -> bool:
    """Exactly zero, without any noise: kilometres times a factor of zero."""
    return number.value == 0 and not number.half_width


def without(number: Number) -> Number:
    return replace(number, value=None, half_width=None)
