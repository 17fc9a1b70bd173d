"""Mayfly's own template tags, loaded in every template."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.core.paginator import Page
from django.forms import BoundField, CheckboxInput
from django.template.context import RequestContext
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from portal.pages import moments, navigation
from portal.pages.icons import ICONS
from portal.pages.moments import relative
from portal.pages.navigation import Entry, Group
from portal.states import Stateful

register = template.Library()


@register.simple_tag
def icon(name: str, size: int = 18) -> SafeString:
    """An icon that says nothing to a screen reader: the text beside it does."""
    return format_html(
        '<svg class="icon" width="{0}" height="{0}" viewBox="0 0 24 24" aria-hidden="true" '
        'focusable="false">{1}</svg>',
        size,
        mark_safe(ICONS[name]),  # noqa: S308 - our own drawings
    )


@register.simple_tag
def badge(row: Stateful) -> SafeString:
    """The state of a row, in its words and its colour."""
    state = type(row).State(row.state)  # type: ignore[attr-defined]
    return format_html('<span class="badge badge-{}">{}</span>', state.colour, state.label)


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """How long ago (or how far ahead) a moment is, with the full time in UTC behind it."""
    if moment is None:
        return "never"
    utc = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>',
        utc.isoformat(timespec="seconds"),
        utc.strftime("%Y-%m-%d %H:%M:%S"),
        relative(utc, now=datetime.now(UTC)),
    )


@register.filter
def countdown(seconds: int) -> str:
    return moments.countdown(seconds)


@register.filter
def nearest(nav: list[Group], path: str) -> list[Entry]:
    return navigation.nearest(nav, path)


@register.filter
def initials(name: object) -> str:
    """Two letters for a person: `Omar Haddad` is OH, `analyst` is AN."""
    words = str(name).split() or ["?"]
    return (words[0][0] + words[-1][0] if len(words) > 1 else words[0][:2]).upper()


@register.inclusion_tag("_pager.html", takes_context=True)
def pager(context: RequestContext, page: Page[Any]) -> dict[str, Any]:
    """Links to the pages around this one; the rest of the query string stays as it is."""
    return {
        "page": page,
        "request": context["request"],
        "first": page.start_index(),
        "last": page.end_index(),
        "numbers": list(page.paginator.get_elided_page_range(page.number, on_each_side=1)),
        "gap": page.paginator.ELLIPSIS,
    }


@register.inclusion_tag("_field.html")
def field(bound: BoundField) -> dict[str, Any]:
    """A form's field with its label, hint and errors, tied together for screen readers."""
    return {
        "field": bound,
        "is_check": isinstance(bound.field.widget, CheckboxInput),
        "optional": not bound.field.required,
    }
