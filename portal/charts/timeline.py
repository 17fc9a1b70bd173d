"""Lines over time with bands for their intervals, and gaps where a number is not shown."""

from collections.abc import Sequence
from dataclasses import replace

from portal.charts.frame import (
    BOLD,
    SMALL,
    VALUE,
    Frame,
    Key,
    finished,
    heading,
    legend,
    sentence,
)
from portal.charts.lines import Plot, draw_axes, draw_gaps, draw_line, line_labels
from portal.charts.measure import text_width
from portal.charts.scales import axis_for, tick_words
from portal.charts.shapes import Line, Mark
from portal.charts.svg import name_of
from portal.charts.words import half_width, is_finite, nothing_shown


def timeline(
    labels: Sequence[str],
    lines: Sequence[Line],
    *,
    title: str,
    unit: str,
    width: int = 720,
    height: int = 300,
    heading: bool = True,
    name: str = "",
    log: bool = False,
) -> str:
    """One line for each series over the labels, from left to right. The axis holds zero, unless it
    is a log axis."""
    made_of = (name, labels, lines, title, unit, width, height, *(["log"] if log else []))
    frame = Frame(name_of("timeline", *made_of), width, title, heading)
    marks = [mark for line in lines for mark in line.marks]
    if not any(is_finite(mark) for mark in marks):
        return sentence(frame, nothing_shown(marks))
    coloured = [
        replace(line, colour=n if line.colour is None else line.colour)
        for n, line in enumerate(lines)
    ]
    return _drawn(frame, list(labels), coloured, unit, height, log=log)


def _drawn(
    frame: Frame, labels: list[str], lines: Sequence[Line], unit: str, height: int, *, log: bool
) -> str:
    marks = [mark for line in lines for mark in line.marks]
    title, y = heading(frame)
    direct = len(lines) > 1 and not frame.is_narrow
    keys, y = legend(frame, _keys(lines, marks, named=not direct), y)
    ends = {"top": y + 32, "bottom": y + height - 28}
    plot = _plot(frame, labels, lines, unit, **ends, direct=direct, log=log)
    axes, bottom = draw_axes(plot)
    drawn = [draw_line(plot, line) for line in lines]
    names = line_labels(plot, lines) if direct else []
    said = _description(labels, lines, unit)
    content = [title, keys, axes, *draw_gaps(plot, lines), *drawn, *names]
    return finished(frame, height=bottom, description=said, content=content)


def _plot(
    frame: Frame,
    labels: list[str],
    lines: Sequence[Line],
    unit: str,
    *,
    top: float,
    bottom: float,
    direct: bool,
    log: bool,
) -> Plot:
    values = [end for line in lines for mark in line.marks for end in _ends(mark)]
    axis = axis_for(values, first=bottom, last=top, most_ticks=5, log=log)
    left = max(text_width(word, SMALL) for word in tick_words(axis)[0]) + 10
    room = max(BOLD * text_width(line.name, VALUE) for line in lines) + 29 if direct else 12
    right = frame.width - min(room, 0.28 * frame.width)
    return Plot(frame, unit, axis, left, right, tuple(labels))


def _ends(mark: Mark) -> list[float]:
    if mark.value is None or not is_finite(mark):
        return []
    width = half_width(mark)
    return [mark.value - width, mark.value + width]


def _keys(lines: Sequence[Line], marks: Sequence[Mark], *, named: bool) -> list[Key]:
    keys = [Key(one.colour or 0, one.name) for one in lines] if named and len(lines) > 1 else []
    if any(half_width(mark) for mark in marks):
        keys.append(Key("band", "interval"))
    some = [[is_finite(mark) for mark in column] for column in _columns(lines)]
    if any(not any(column) for column in some):
        keys.append(Key("hidden", "not shown"))
    if any(any(column) and not all(column) for column in some):
        keys.append(Key("gap", "not shown for one line"))
    return keys


def _columns(lines: Sequence[Line]) -> list[tuple[Mark, ...]]:
    return list(zip(*(line.marks for line in lines), strict=True))


def _description(labels: Sequence[str], lines: Sequence[Line], unit: str) -> str:
    names = ", ".join(line.name for line in lines)
    hidden = sum(not is_finite(mark) for line in lines for mark in line.marks)
    words = f"{names}: {len(labels)} points from {labels[0]} to {labels[-1]}, in {unit}."
    return words + (f" {hidden} are not shown." if hidden else "")
