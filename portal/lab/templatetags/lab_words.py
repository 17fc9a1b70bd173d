"""Numbers of the lab as words."""

from django import template

register = template.Library()


@register.filter
def percent(share: float) -> str:
    """0.123 is 12 %; small ones keep a digit."""
    value = 100 * share
    return f"{value:.0f} %".replace("-", "−") if abs(value) >= 10 else _small(value)


def _small(value: float) -> str:
    return f"{value:.1f} %".replace("-", "−")
