"""Horizontal bars with their intervals, in one panel or in several with the same axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from portal.charts.bars import Panel, draw_axis, draw_groups, stack_total
from portal.charts.frame import (
    BOLD,
    NARROW,
    NORMAL,
    VALUE,
    Frame,
    Key,
    finished,
    heading,
    legend,
    notes,
    sentence,
)
from portal.charts.measure import cut, text_width
from portal.charts.scales import axis_for
from portal.charts.shapes import Group, Mark
from portal.charts.sharing import shares
from portal.charts.svg import Markup, name_of, text
from portal.charts.words import half_width, is_finite, nothing_shown, short_interval

# Between panels side by side.
GAP = 28.0
Panels = Sequence[tuple[str, Sequence[Group]]]


def histogram(
    groups: Sequence[Group] | Panels,
    series: Sequence[str],
    *,
    title: str,
    unit: str,
    stacked: bool = False,
    log: bool = False,
    share: bool = False,
    totals: Sequence[Mark] = (),
    width: int = 720,
    heading: bool = True,
    name: str = "",
    remarks: Sequence[str] = (),
    folded: bool = False,
) -> str:
    """One row for each group and series, in the order given.

    Panels of groups, each with its name, stand side by side where there is room, all on the same
    axis. `share` shows each mark as a part of its series' sum, or of its bar where stacked;
    `totals` (one mark per series) are sums that know more than what is shown. `remarks` stand
    below the axis. `name` tells apart two drawings of the same on one page. `folded` leaves out
    what is not shown, for a page that says so beside the chart.
    """
    panels = _panels(groups)
    made_of = (name, panels, series, title, unit, stacked, log, share, totals, width, folded)
    frame = Frame(name_of("histogram", *made_of), width, title, heading)
    said = list(remarks)
    if stacked and log:
        said.append("Stacked bars have no log axis: this one is linear.")
        log = False
    if share:
        unit, panels = "%", [
            (label, shares(groups, stacked=stacked, totals=totals)) for label, groups in panels
        ]  # fmt: skip
        of = "its bar" if stacked else "the sum"
        said.append(f"Share of {of}{'' if totals else ', as far as it is shown'}.")
    drawing = Drawing(frame, panels, tuple(series), unit, stacked=stacked, log=log)
    if not any(is_finite(mark) for mark in drawing.marks):
        return sentence(frame, nothing_shown(drawing.marks))
    return _drawn(replace(drawing, panels=_shown(panels), folded=True) if folded else drawing, said)


def _shown(panels: Panels) -> Panels:
    """Groups that have something to show."""
    return [(name, [g for g in groups if any(map(is_finite, g.marks))]) for name, groups in panels]


def _panels(groups: Sequence[Group] | Panels) -> Panels:
    named = [one for one in groups if not isinstance(one, Group)]
    return named or [("", [one for one in groups if isinstance(one, Group)])]


@dataclass(frozen=True)
class Drawing:
    """What is drawn, once shares are taken and what cannot be is put right."""

    frame: Frame
    panels: Panels
    series: tuple[str, ...]
    unit: str
    stacked: bool
    log: bool
    folded: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether every bar is all of something, so that its sum is no news."""
        return self.stacked and self.unit == "%"

    @property
    def groups(self) -> list[Group]:
        return [group for _, groups in self.panels for group in groups]

    @property
    def marks(self) -> list[Mark]:
        return [mark for group in self.groups for mark in group.marks]

    @property
    def columns(self) -> int:
        if len(self.panels) == 1 or self.frame.is_narrow:
            return 1
        most = min(max(1, self.frame.width // 220), 4)
        rows = math.ceil(len(self.panels) / most)
        return math.ceil(len(self.panels) / rows)


def _drawn(drawing: Drawing, remarks: list[str]) -> str:
    frame, columns = drawing.frame, drawing.columns
    title, y = heading(frame)
    keys, y = legend(frame, _keys(drawing), y)
    content = [title, keys]
    room = (frame.width - GAP * (columns - 1)) / columns
    for start in range(0, len(drawing.panels), columns):
        bottoms = []
        for column, (label, groups) in enumerate(drawing.panels[start : start + columns]):
            panel = _panel(drawing, column * (room + GAP), room)
            drawn, bottom = _one(panel, label, groups, y)
            content += drawn
            bottoms.append(bottom)
        y = max(bottoms) + 4
    small, y = notes(frame, [*remarks, *_log_remarks(drawing)], y)
    said = _description(drawing)
    return finished(frame, height=y + 2, description=said, content=[*content, small])


def _one(panel: Panel, label: str, groups: Sequence[Group], y: float) -> tuple[list[Markup], float]:
    content = []
    if label:
        words = cut(label, BOLD * NORMAL, panel.right - panel.left)
        content.append(text(words, panel.left, y + 18, "panel-title"))
        y += 26
    rows, bottom = draw_groups(panel, groups, y + 6)
    axis, end = draw_axis(panel, y + 4, bottom, "share," if panel.unit == "%" else "")
    return [*content, axis, *rows], end


def _panel(drawing: Drawing, left: float, room: float) -> Panel:
    """Labels left, bars, values right; or, without much room, both above the bars."""
    groups, stacked, log = drawing.groups, drawing.stacked, drawing.log
    above = room < NARROW
    one_row = stacked or len(drawing.series) < 2
    labels = max(text_width(group.label, NORMAL) for group in groups)
    values = 0.0 if (above and one_row) or drawing.is_whole else _value_room(drawing)
    first = left + (2 if above else min(labels + 14, 0.34 * room))
    last = left + room - (values + 10 if values else 8)
    ticks = min(max(2, int((last - first) / 70)), 6)
    axis = axis_for(_extent(drawing), first=first, last=last, log=log, most_ticks=ticks)
    right = left + room
    return Panel(
        drawing.frame, drawing.series, drawing.unit, axis, stacked, left, right, above,
        folded=drawing.folded,
    )  # fmt: skip


def _value_room(drawing: Drawing) -> float:
    marks = [stack_total(one) for one in drawing.groups] if drawing.stacked else drawing.marks
    sign = " %" if drawing.unit == "%" else ""
    return max(text_width(short_interval(mark) + sign, VALUE) for mark in marks)


def _extent(drawing: Drawing) -> list[float]:
    """Every number the axis must hold: values with both ends of their intervals."""
    marks = [mark for mark in drawing.marks if is_finite(mark)]
    if drawing.stacked:
        marks = [one for group in drawing.groups for one in _sides(group, drawing.is_whole)]
    ends = []
    for mark in marks:
        value, width = mark.value or 0.0, half_width(mark)
        low = value if drawing.log and value - width <= 0 else value - width
        ends += [low, value + width]
    return ends


def _sides(group: Group, is_whole: bool) -> list[Mark]:
    """How far a stack reaches to the right and to the left of zero."""
    shown = [mark.value or 0.0 for mark in group.marks if is_finite(mark)]
    right, left = sum(one for one in shown if one > 0), sum(one for one in shown if one < 0)
    sides = [Mark(right), Mark(left)]
    return sides if is_whole or not shown else [*sides, stack_total(group)]


def _keys(drawing: Drawing) -> list[Key]:
    series, marks = drawing.series, drawing.marks
    used = {n for g in drawing.groups for n, mark in enumerate(g.marks) if is_finite(mark)}
    named = [Key(n, name) for n, name in enumerate(series) if n in used or not drawing.folded]
    keys = named if len(series) > 1 else []
    if any(half_width(mark) for mark in marks) and not drawing.is_whole:
        keys.append(Key("interval", "interval"))
    is_hatched = not drawing.folded or drawing.stacked
    if is_hatched and not all(is_finite(mark) for mark in marks):
        keys.append(Key("hidden", "not shown"))
    return keys


def _log_remarks(drawing: Drawing) -> list[str]:
    if not drawing.log or all(mark.value is None or mark.value > 0 for mark in drawing.marks):
        return []
    return ["Values of zero or less have no place on a log axis; they are named, not drawn."]


def _description(drawing: Drawing) -> str:
    rows, series, unit = len(drawing.groups), drawing.series, drawing.unit
    hidden = 0 if drawing.folded else sum(not is_finite(mark) for mark in drawing.marks)
    words = f"Bars for {rows} {'group' if rows == 1 else 'groups'}"
    if len(series) > 1:
        words += f" and {len(series)} series ({', '.join(series)})"
    words += f", in {unit}, with intervals." if unit else ", with intervals."
    return words + (f" {hidden} of {len(drawing.marks)} numbers are not shown." if hidden else "")
