"""How released numbers are written on pages."""

import math
from collections.abc import Mapping
from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from portal.ledger.templatetags.ledger_words import epsilon
from portal.releases.browsing.change import Change
from portal.releases.models import Release
from portal.releases.reading import Number
from portal.releases.signing import read_card
from portal.tasks.templatetags.task_words import civil

register = template.Library()
register.filter(epsilon)
register.filter(civil)

# Digits of a half-width that say something.
_DIGITS = 2


@register.filter
def interval(number: Number) -> SafeString | str:
    """`12,340 ± 410`: as many digits as the interval bears."""
    if number.value is None:
        return format_html('<span class="muted">{}</span>', "not shown")
    places = _places(number.half_width or 0.0)
    value, width = _written(number.value, places), _written(number.half_width or 0.0, places)
    return format_html('{} <span class="muted">± {}</span>', value, width)


@register.filter
def parts(number: Number) -> str:
    """`noise ± 380, clipping ± 15, correction +1.2 %`: what its interval is made of."""
    if number.value is None:
        return ""
    words = [f"noise ± {_width(number.noise or 0.0)}"]
    if number.clip_uncertainty is not None:
        words.append(f"clipping ± {_width(number.clip_uncertainty)}")
    if number.clip_correction:
        words.append(f"correction {100 * number.clip_correction:+.2g} %".replace("-", "−"))
    return ", ".join(words)


@register.filter
def get(words: Mapping[str, str], key: str) -> str:
    return words.get(key, "")


@register.filter
def percent(fraction: float | None) -> str:
    """`+3.1 %` of a fraction; nothing where it is not known."""
    return "" if fraction is None else f"{100 * fraction:+.1f} %".replace("-", "−")


@register.filter
def changed(change: Change | None) -> SafeString | str:
    """A difference with its interval, and whether it is more than noise."""
    if change is None:
        return format_html('<span class="muted">{}</span>', "not known")
    places = _places(change.half_width)
    width = _written(change.half_width, places)
    sign = "+" if change.difference > 0 else ""
    value = sign + _written(change.difference, places)
    word, tone = ("clear", "info") if change.is_clear else ("within the noise", "neutral")
    share = f" ({percent(change.percent / 100)})" if change.percent is not None else ""
    return format_html(
        '{}{} <span class="muted">± {}</span> <span class="badge badge-{}">{}</span>',
        value,
        share,
        width,
        tone,
        word,
    )


@register.filter
def utc(text: str) -> SafeString | str:
    """A moment of a card, which writes it as text."""
    return civil(datetime.fromisoformat(text))


@register.filter
def metrics_of(release: Release) -> str:
    """`num_trips, distance_km`: what its numbers are of, as its card says."""
    return ", ".join(read_card(release.card).metrics)


@register.simple_tag
def audience_badge(release: Release) -> SafeString:
    found = Release.Audience(release.audience)
    return format_html('<span class="badge badge-{}">{}</span>', found.colour, found.label)


def _places(half_width: float) -> int:
    if not 0 < half_width < math.inf:
        return 0
    return _DIGITS - 1 - math.floor(math.log10(half_width))


def _width(half_width: float) -> str:
    return _written(half_width, _places(half_width))


def _written(number: float, places: int) -> str:
    written = f"{round(number, places):,.{max(places, 0)}f}"
    return written.replace("-", "−").replace("inf", "∞")


@register.filter
def share(fraction: float) -> str:
    """`12 %`."""
    return f"{100 * fraction:.3g} %"


@register.filter
def hundredfold(fraction: float) -> str:
    return f"{100 * fraction:g}"


@register.filter
def plain(number: float) -> str:
    """For an input: a point, whatever the language."""
    return f"{number:g}"
