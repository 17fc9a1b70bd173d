"""When a window was, as people write dates: `week of 30 Nov – 6 Dec 2026`."""

from datetime import datetime, timedelta

from aggregation.protocol.windows import Unit, Window


def dated(window: Window) -> str:
    """For headings; the label of a week alone says little to those who do not count weeks."""
    if window.unit is Unit.WEEK:
        return f"week of {_days(window.start, window.end - timedelta(days=1))}"
    if window.unit is Unit.MONTH:
        return f"{window.start:%B %Y}"
    day = _day(window.start)
    return f"{day}, {window.start:%H:%M} UTC" if window.unit is Unit.HOUR else day


def first_day(window: Window) -> str:
    """`30 Nov`, of weeks alone: what others are called says it. Of another year than the label's,
    `29 Dec 2025`."""
    if window.unit is not Unit.WEEK:
        return ""
    is_of_year = window.label.startswith(f"{window.start:%Y}")
    return f"{window.start.day} {window.start:%b}" if is_of_year else _day(window.start)


def _days(first: datetime, last: datetime) -> str:
    """Months and years only once where both have the same."""
    if first.year != last.year:
        return f"{_day(first)} – {_day(last)}"
    if first.month != last.month:
        return f"{first.day} {first:%b} – {_day(last)}"
    return f"{first.day} – {_day(last)}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"
