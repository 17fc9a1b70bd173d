"""A path in the documentation: a fenced block of steps becomes one row of chips per place.

A block `steps` holds one place a line, `device: run the query -> bound -> seal`.
"""

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from aggregation.errors import Problem

_ARROW = SafeString(' <span class="states-arrow" aria-hidden="true">→</span> ')


def path(text: str) -> SafeString:
    rows = (_row(line) for line in text.splitlines() if line.strip())
    return format_html('<ol class="steps">\n{}</ol>\n', format_html_join("", "{}", rows))


def _row(line: str) -> tuple[SafeString]:
    place, colon, steps = line.partition(":")
    if not (place.strip() and colon and steps.strip()):
        raise Problem(
            f"The line {line!r} is not a place with its steps.",
            hint="Its form is `device: run the query -> bound -> seal`.",
        )
    each = ((step.strip(),) for step in steps.split("->"))
    chips = format_html_join(_ARROW, '<span class="step">{}</span>', each)
    row = '<li><span class="steps-place">{}</span> <span class="steps-row">{}</span></li>\n'
    return (format_html(row, place.strip(), chips),)
