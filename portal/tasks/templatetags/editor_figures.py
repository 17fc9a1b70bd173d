"""Numbers in the editor's panels: as many digits as mean something."""

from django import template

register = template.Library()


@register.filter
def figure(value: object) -> str:
    """1239.99 is 1,240; 0.80476 is 0.805; whole numbers and words stay what they are."""
    if value is None:
        return "—"
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    if abs(value) >= 1000:
        digits = len(str(int(abs(value)))) - 3
        return f"{round(value, -max(0, digits - 1)):,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.1f}".removesuffix(".0")


@register.filter
def named(value: object, names: dict[object, str]) -> str:
    """A key's value, with the name of its place where it has one."""
    return names.get(value) or ("—" if value is None else str(value))


@register.filter
def percent(share: float) -> str:
    return f"{100 * share:.3g} %"
