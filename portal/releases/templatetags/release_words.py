"""How released numbers are written on pages."""

import re
from datetime import UTC, datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from aggregation.protocol.windows import Window
from portal.charts.rounding import places_of, signed, span, written
from portal.ledger.templatetags.ledger_words import epsilon
from portal.releases import citing
from portal.releases.browsing import embedding
from portal.releases.browsing.change import Change
from portal.releases.browsing.drawing import Chart
from portal.releases.browsing.map_drawing import Map
from portal.releases.browsing.tables import Tables
from portal.releases.browsing.units import label
from portal.releases.dating import dated
from portal.releases.models import Release
from portal.releases.reading import Number
from portal.releases.reasons import plain as plain_name
from portal.releases.signing import read_card

register = template.Library()
register.filter(epsilon)


@register.filter
def interval(number: Number) -> SafeString | str:
    """`12,340 ± 410`: as many digits as the interval bears."""
    if number.value is None:
        return format_html('<span class="muted">{}</span>', "not shown")
    places = places_of(number.half_width or 0.0)
    value, width = written(number.value, places), written(number.half_width or 0.0, places)
    return format_html('{} <span class="muted">± {}</span>', value, width)


@register.filter
def unbroken(sentence: str) -> str:
    """With each number, its ± and its percent sign on one line."""
    return re.sub(r" (?=[±%])|(?<=±) ", "\N{NO-BREAK SPACE}", sentence)


@register.filter
def parts(number: Number) -> str:
    """`noise ± 380, clipping ± 15, correction +1.2 %`: what its interval is made of."""
    if number.value is None:
        return ""
    words = [f"noise ± {_width(number.noise or 0.0)}"]
    if number.clip_uncertainty is not None:
        words.append(f"clipping ± {_width(number.clip_uncertainty)}")
    if number.clip_correction:
        words.append(f"correction {signed(100 * number.clip_correction, 1)} %")
    return ", ".join(words)


@register.filter
def changed(change: Change | None) -> SafeString | str:
    """A difference with its interval, and whether it is more than noise."""
    if change is None:
        return format_html('<span class="muted">{}</span>', "not known")
    word, tone = ("clear", "info") if change.is_clear else ("within the noise", "neutral")
    return format_html(
        '{} <span class="muted">± {}</span>{} <span class="badge badge-{}">{}</span>',
        signed(change.difference, places_of(change.half_width)),
        _width(change.half_width),
        _percentage(change),
        tone,
        word,
    )


def _percentage(change: Change) -> str:
    """` (+56 %, from +7 to +138 %)`: zero lies between the ends just where the change is not
    clear."""
    if change.percent is None or change.percent_ends is None:
        return ""
    low, high = change.percent_ends
    middle = signed(change.percent, places_of((high - low) / 2))
    # No percent sign begins a line.
    return f" ({middle}\N{NO-BREAK SPACE}%, from {span(low, high)}\N{NO-BREAK SPACE}%)"


@register.filter
def utc(moment: datetime | str) -> SafeString:
    """`2026-11-23 09:30 UTC`: the one way that pages of releases tell a time."""
    found = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    found = found.astimezone(UTC)
    exactly, shown = found.isoformat(timespec="seconds"), f"{found:%Y-%m-%d %H:%M} UTC"
    return format_html('<time datetime="{}">{}</time>', exactly, shown)


@register.filter
def in_words(column: str, tables: Tables) -> str:
    """`Distance (km)`, for the head of a table."""
    name = label(column, tables.unit(column))
    return f"{name[:1].upper()}{name[1:]}"


@register.filter
def frame_height(drawn: Chart | Map, tables: Tables) -> int:
    """In pixels, for a frame of another site."""
    return embedding.frame_height(drawn, embedding.said_of(drawn, tables))


@register.filter
def source(release: Release) -> str:
    return citing.source(release)


@register.filter
def dates(window: Window) -> str:
    """`week of 30 Nov – 6 Dec 2026`."""
    return dated(window)


@register.filter
def release_time(release: Release) -> SafeString:
    """That of its card, which is signed."""
    return utc(read_card(release.card).released_at)


@register.filter
def metrics_of(release: Release) -> str:
    """`trips, distance`: what its numbers are of, as its card says."""
    return ", ".join(plain_name(metric) for metric in read_card(release.card).metrics)


@register.simple_tag
def audience_badge(release: Release) -> SafeString:
    found = Release.Audience(release.audience)
    return format_html('<span class="badge badge-{}">{}</span>', found.colour, found.label)


def _width(half_width: float) -> str:
    return written(half_width, places_of(half_width))


@register.filter
def subscripts(text: str) -> str:
    """`CO₂e`: sources of factors write it without."""
    return text.replace("CO2", "CO₂")


@register.filter
def hundredfold(fraction: float) -> str:
    return f"{100 * fraction:g}"


@register.filter
def plain(number: float) -> str:
    """For an input: a point, whatever the language."""
    return f"{number:g}"
