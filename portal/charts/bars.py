"""The bars of one panel: rows from top to bottom, labels, intervals, values."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts.frame import (
    NORMAL,
    SMALL,
    Frame,
    is_striped,
    series_class,
)
from portal.charts.measure import cut, text_width
from portal.charts.scales import Axis, tick_words
from portal.charts.shapes import Group, Mark
from portal.charts.svg import Markup, join, linked, tag, text
from portal.charts.words import half_width, is_finite, short_interval, tooltip


@dataclass(frozen=True)
class Panel:
    """Where the bars of one set of groups go, and how they are read."""

    frame: Frame
    series: tuple[str, ...]
    unit: str
    axis: Axis
    stacked: bool
    # Where labels begin, and where values end.
    left: float
    right: float
    # Above the bars, as on a phone, instead of beside them.
    labels_above: bool
    # Marks that are not shown have no row.
    folded: bool = False

    @property
    def rows(self) -> int:
        return 1 if self.stacked else max(len(self.series), 1)

    @property
    def thickness(self) -> float:
        return 16.0 if self.rows == 1 else 11.0

    def rows_of(self, group: Group) -> list[tuple[int, Mark]]:
        """The marks that have a row of their own, each with its series."""
        marks = enumerate(group.marks)
        return [(n, mark) for n, mark in marks if is_finite(mark) or not self.folded]

    def height_of(self, group: Group) -> float:
        above = 20.0 if self.labels_above else 0.0
        return above + self.count(group) * (self.thickness + 3) + 11

    def count(self, group: Group) -> int:
        """Rows of a group; all of them have room unless what is not shown is left out."""
        return len(self.rows_of(group)) if self.folded and not self.stacked else self.rows


def draw_groups(panel: Panel, groups: Sequence[Group], y: float) -> tuple[list[Markup], float]:
    """All rows, and where they end."""
    drawn = []
    for group in groups:
        drawn.append(_group(panel, group, y))
        y += panel.height_of(group)
    return drawn, y


def draw_axis(panel: Panel, top: float, bottom: float, title: str) -> tuple[Markup, float]:
    """Grid, ticks and the axis title, which carries the unit."""
    axis, drawn = panel.axis, []
    words, scale = tick_words(axis)
    for tick, word in zip(axis.ticks, words, strict=True):
        x = axis.at(tick)
        is_base = tick == axis.base and not axis.log
        kind = "axis-zero" if is_base else "grid"
        drawn.append(tag("path", d=f"M{x:.1f} {top:g}V{bottom:g}", class_=kind))
        drawn.append(text(word, x, bottom + 16, "tick", text_anchor=_anchor(panel, x, word)))
    named = " ".join(word for word in (title, f"{scale} {panel.unit}".strip()) if word)
    middle = (axis.first + axis.last) / 2
    drawn.append(text(named, middle, bottom + 34, "axis-title", text_anchor="middle"))
    return tag("g", *drawn), bottom + 40


def _anchor(panel: Panel, x: float, word: str) -> str:
    half = text_width(word, SMALL) / 2
    if x - half < panel.left:
        return "start"
    return "end" if x + half > panel.right else "middle"


def _group(panel: Panel, group: Group, y: float) -> Markup:
    """A group of one row is one link, label and bar; otherwise the label leads to the group's
    address, and every mark to its own."""
    top = y + (20 if panel.labels_above else 4)
    label = _label(panel, group, y, top)
    if panel.stacked:
        return tag("g", linked(label, group.href), _stack(panel, group, top))
    step, drawn = panel.thickness + 3, panel.rows_of(group)
    rows = [
        _row(panel, group, mark, index, top + place * step)
        for place, (index, mark) in enumerate(drawn)
    ]
    if len(group.marks) == 1:
        return linked(tag("g", label, *rows), group.marks[0].href or group.href)
    links = [linked(row, mark.href) for row, (_, mark) in zip(rows, drawn, strict=True)]
    return tag("g", linked(label, group.href), *links)


def _label(panel: Panel, group: Group, y: float, top: float) -> Markup:
    if panel.labels_above:
        room = 0.55 * (panel.right - panel.left) if panel.rows == 1 else panel.right - panel.left
        drawn = text(cut(group.label, NORMAL, room), panel.left, y + 14, "chart-label")
    else:
        middle = top + panel.count(group) * (panel.thickness + 3) / 2 + 3
        room = panel.axis.first - panel.left - 10
        words = cut(group.label, NORMAL, room)
        end = panel.axis.first - 10
        drawn = text(words, end, middle, "chart-label", text_anchor="end")
    return drawn


def _row(panel: Panel, group: Group, mark: Mark, index: int, y: float) -> Markup:
    name = panel.series[index] if panel.rows > 1 else ""
    label = f"{group.label}, {name}" if name else group.label
    said = tag("title", tooltip(label, mark, panel.unit))
    drawn = [said, _reach(panel, y), *_shape(panel, mark, index, y), _value(panel, mark, y)]
    return tag("g", *drawn, class_="mark")


def _shape(panel: Panel, mark: Mark, index: int, y: float) -> list[Markup]:
    axis = panel.axis
    if not is_finite(mark) or mark.value is None:
        return [_hidden(panel, y)]
    if axis.log and mark.value <= 0:
        return [text("≤ 0, not on a log axis", axis.first + 6, y + 11, "chart-note")]
    middle, end = y + panel.thickness / 2, axis.at(mark.value)
    if axis.log:
        stem = tag("path", d=f"M{axis.first:.1f} {middle:g}H{end:.1f}", class_="stem")
        dot = tag("circle", cx=end, cy=middle, r=4.5, class_=series_class(index))
        return [stem, _whisker(panel, mark, mark.value, middle), dot]
    bar = _bar(panel, index, axis.at(axis.base), end, y)
    return [bar, _whisker(panel, mark, mark.value, middle)]


def _bar(panel: Panel, index: int, start: float, end: float, y: float) -> Markup:
    box = {
        "x": min(start, end),
        "y": y,
        "width": max(abs(end - start), 0.8),
        "height": panel.thickness,
    }
    bar = tag("rect", **box, class_=series_class(index))
    if not is_striped(index):
        return bar
    return join(bar, tag("rect", **box, fill=panel.frame.pattern("stripe")))


def _whisker(panel: Panel, mark: Mark, value: float, y: float) -> Markup:
    """The interval. On a log axis it may begin at or below zero: then it has no left end."""
    width = half_width(mark)
    if not width:
        return Markup("")
    axis, low = panel.axis, value - width
    start, end = axis.at(low), axis.at(value + width)
    reach = 3.5 if panel.thickness > 12 else 2.5
    left = "" if axis.log and low <= 0 else f"M{start:.1f} {y - reach:g}v{2 * reach:g}"
    line = f"M{start:.1f} {y:g}H{end:.1f}M{end:.1f} {y - reach:g}v{2 * reach:g}{left}"
    return join(tag("path", d=line, class_="halo"), tag("path", d=line, class_="whisker"))


def _hidden(panel: Panel, y: float) -> Markup:
    axis = panel.axis
    return tag(
        "rect",
        x=axis.first,
        y=y + 2,
        width=axis.last - axis.first,
        height=panel.thickness - 4,
        class_="hidden",
        fill=panel.frame.pattern("hatch"),
    )


def _reach(panel: Panel, y: float) -> Markup:
    """An invisible box, so that the whole row answers to the pointer."""
    left = panel.left if panel.labels_above else panel.axis.first
    above = 18 if panel.labels_above and panel.rows == 1 else 1.5
    return tag(
        "rect",
        x=left,
        y=y - above,
        width=panel.right - left,
        height=panel.thickness + above + 1.5,
        class_="reach",
    )


def _value(panel: Panel, mark: Mark, y: float) -> Markup:
    words = short_interval(mark)
    if panel.unit == "%" and is_finite(mark):
        words += " %"
    above = panel.labels_above and panel.rows == 1
    base = y - 6 if above else y + panel.thickness / 2 + 4.5
    kind = "chart-value" if is_finite(mark) else "chart-note"
    return text(words, panel.right, base, kind, text_anchor="end")


def _stack(panel: Panel, group: Group, y: float) -> Markup:
    """Positive values to the right of zero and negative ones to the left, in the series' order."""
    whole = stack_total(group)
    if whole.value is None:
        return _row(panel, group, Mark(None, note=_reasons(group)), 0, y)
    ends, drawn = [0.0, 0.0], []
    for index, mark in enumerate(group.marks):
        if mark.value is None or not is_finite(mark):
            continue
        said = tag("title", tooltip(f"{group.label}, {panel.series[index]}", mark, panel.unit))
        side = 1 if mark.value < 0 else 0
        start, ends[side] = ends[side], ends[side] + mark.value
        bar = _bar(panel, index, panel.axis.at(start), panel.axis.at(ends[side]), y)
        drawn.append(linked(tag("g", said, bar, class_="mark"), mark.href))
    drawn.append(_unseen(panel, group, max(ends[0], whole.value + half_width(whole)), y))
    # The sum of all shares is no news.
    if panel.unit == "%":
        return join(*drawn)
    drawn.append(_whisker(panel, whole, whole.value, y + panel.thickness / 2))
    return join(*drawn, _value(panel, whole, y))


def _reasons(group: Group) -> str:
    return "; ".join(sorted({mark.note for mark in group.marks if mark.note}))


def _unseen(panel: Panel, group: Group, end: float, y: float) -> Markup:
    """A stub behind a stack of which parts are not shown."""
    missing = [name for name, mark in zip(panel.series, group.marks, strict=False)
               if not is_finite(mark)]  # fmt: skip
    if not missing:
        return Markup("")
    said = tag("title", f"{group.label}: not shown: {', '.join(missing)}")
    box = tag(
        "rect",
        x=panel.axis.at(end) + 3,
        y=y + 2,
        width=14,
        height=panel.thickness - 4,
        class_="hidden",
        fill=panel.frame.pattern("hatch"),
    )
    return tag("g", said, box, class_="mark")


def stack_total(group: Group) -> Mark:
    """The sum of what is shown, as it is told or with the interval of independent numbers."""
    if group.total is not None:
        return group.total
    shown = [mark for mark in group.marks if is_finite(mark)]
    if not shown:
        return Mark(None)
    variance = sum(half_width(mark) ** 2 for mark in shown)
    return Mark(sum(mark.value or 0.0 for mark in shown), variance**0.5 or None)
