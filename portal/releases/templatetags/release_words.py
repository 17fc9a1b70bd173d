"""How released numbers are written on pages."""

import math
from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from portal.ledger.templatetags.ledger_words import epsilon
from portal.releases.models import Release
from portal.releases.reading import Number
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
def utc(text: str) -> SafeString | str:
    """A moment of a card, which writes it as text."""
    return civil(datetime.fromisoformat(text))


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
    return f"{round(number, places):,.{max(places, 0)}f}".replace("-", "−")
