"""How tasks are written on pages."""

import json
import re
from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from portal.accounts.models import Person
from portal.ledger.templatetags.ledger_words import epsilon
from portal.tasks.models import Revision

register = template.Library()
# A place where a line may end.
_BREAK = SafeString("<wbr>")


register.filter(epsilon)


@register.filter
def civil(moment: datetime | None) -> SafeString | str:
    """A moment of civil time, which may be a simulated one: written out, never «ago»."""
    if moment is None:
        return "–"
    utc = moment.astimezone(UTC)
    shown = utc.strftime("%Y-%m-%d" if utc.time() == utc.time().min else "%Y-%m-%d %H:%M")
    return format_html('<time datetime="{}">{}</time>', utc.isoformat(timespec="seconds"), shown)


@register.filter
def known(person: Person) -> SafeString | str:
    """A person by both names: full names are chosen freely and can imitate, usernames cannot."""
    if not person.full_name:
        return person.username
    shown = '<span class="known">{} <span class="username">{}</span></span>'
    return format_html(shown, person.full_name, person.username)


@register.filter
def path(dotted: str) -> SafeString:
    """Where a field is in the document: a long one goes on in the next line behind a dot."""
    return format_html_join(_BREAK, "{}", ((part,) for part in re.findall(r"[^.]+\.?", dotted)))


@register.filter
def plain(value: Any) -> str:
    """A field of a spec as one would write it."""
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@register.simple_tag
def revision_badge(state: str) -> SafeString:
    found = Revision.State(state)
    return format_html('<span class="badge badge-{}">{}</span>', found.colour, found.label)
