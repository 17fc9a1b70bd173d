"""What a timeline is drawn of: axes, bands, lines, dots, and the names at their ends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from portal.charts.frame import BOLD, SMALL, VALUE, Frame, is_striped, series_class
from portal.charts.measure import cut, text_width
from portal.charts.scales import Axis, tick_words
from portal.charts.shapes import Line, Mark
from portal.charts.svg import Markup, join, linked, number, tag, text
from portal.charts.words import half_width, is_finite, tooltip

# A mark with its place on the drawing.
Dot = tuple[int, Mark]


@dataclass(frozen=True)
class Plot:
    """The ground of a timeline. The axis is the upright one; its `first` is the bottom."""

    frame: Frame
    unit: str
    axis: Axis
    left: float
    right: float
    labels: tuple[str, ...]

    @property
    def top(self) -> float:
        return self.axis.last

    @property
    def bottom(self) -> float:
        return self.axis.first

    @property
    def step(self) -> float:
        return (self.right - self.left - 12) / max(len(self.labels) - 1, 1)

    def x(self, index: int) -> float:
        if len(self.labels) == 1:
            return (self.left + self.right) / 2
        return self.left + 6 + index * self.step


def draw_axes(plot: Plot) -> tuple[Markup, float]:
    """Grid and both axes; and where the drawing ends."""
    words, scale = tick_words(plot.axis)
    drawn = [text(f"{scale} {plot.unit}".strip(), 0.0, plot.top - 14, "axis-title")]
    for tick, word in zip(plot.axis.ticks, words, strict=True):
        y = plot.axis.at(tick)
        kind = "axis-zero" if tick == 0 else "grid"
        drawn.append(tag("path", d=f"M{plot.left:.1f} {y:.1f}H{plot.right:.1f}", class_=kind))
        drawn.append(text(word, plot.left - 8, y + 4, "tick", text_anchor="end"))
    widest = max(text_width(label, SMALL) for label in plot.labels)
    every = max(1, int((widest + 16) / max(plot.step, 1)) + (plot.step < widest + 16))
    for index in range(len(plot.labels) - 1, -1, -every):
        drawn.append(_window(plot, index))
    return tag("g", *drawn), plot.bottom + 28


def _window(plot: Plot, index: int) -> Markup:
    label, x = plot.labels[index], plot.x(index)
    half = text_width(label, SMALL) / 2
    anchor = "middle"
    if x + half > plot.frame.width:
        anchor, x = "end", plot.frame.width
    elif x - half < 0:
        anchor, x = "start", 0.0
    return text(label, x, plot.bottom + 20, "tick", text_anchor=anchor)


def draw_line(plot: Plot, line: Line) -> Markup:
    """Bands and strokes for each run of shown marks, then a dot for every mark."""
    runs, colour = list(_runs(line.marks)), line.colour or 0
    bands = [_band(plot, run, colour) for run in runs]
    strokes = [_stroke(plot, run, colour) for run in runs if len(run) > 1]
    dots = [_dot(plot, line, number, colour) for number in range(len(line.marks))]
    return tag("g", *bands, *strokes, *dots)


def line_labels(plot: Plot, lines: Sequence[Line]) -> list[Markup]:
    """Each name beside the last shown point of its line, moved apart where they would touch."""
    ends = []
    for index, line in enumerate(lines):
        shown = [mark.value for mark in line.marks if is_finite(mark)]
        if shown:
            ends.append((plot.axis.at(shown[-1] or 0.0), index))
    placed, lowest = [], plot.top - 16.0
    for wanted, index in sorted(ends):
        lowest = max(wanted, lowest + 16)
        placed.append((lowest, lines[index]))
    over = max(0.0, lowest - plot.bottom) if placed else 0.0
    return [_name(plot, line.name, line.colour or 0, y - over) for y, line in placed]


def _name(plot: Plot, name: str, colour: int, y: float) -> Markup:
    x = plot.right + 10
    dashes = "4 2.5" if is_striped(colour) else None
    kind = f"stroke {series_class(colour)}"
    stroke = tag("path", d=f"M{x:.1f} {y:.1f}h12", class_=kind, stroke_dasharray=dashes)
    words = cut(name, VALUE, (plot.frame.width - x - 17) / BOLD)
    return join(stroke, text(words, x + 17, y + 4, "line-name"))


def _runs(marks: Sequence[Mark]) -> Iterator[list[Dot]]:
    run: list[Dot] = []
    for index, mark in enumerate(marks):
        if is_finite(mark):
            run.append((index, mark))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _band(plot: Plot, run: list[Dot], colour: int) -> Markup:
    """The intervals as an area; of a point alone, as an upright bar."""
    sides = run if len(run) > 1 else [run[0], run[0]]
    nudge = [0.0] * len(run) if len(run) > 1 else [-4.0, 4.0]
    upper, lower = [], []
    for (at, mark), aside in zip(sides, nudge, strict=True):
        value, width = mark.value or 0.0, half_width(mark)
        x = number(plot.x(at) + aside)
        upper.append(f"{x} {number(plot.axis.at(value + width))}")
        lower.append(f"{x} {number(plot.axis.at(value - width))}")
    path = "M" + "L".join([*upper, *reversed(lower)]) + "Z"
    return tag("path", d=path, class_=f"band {series_class(colour)}")


def _stroke(plot: Plot, run: list[Dot], colour: int) -> Markup:
    points = [f"{number(plot.x(at))} {number(plot.axis.at(mark.value or 0.0))}" for at, mark in run]
    dashes = "6 4" if is_striped(colour) else None
    kind = f"stroke {series_class(colour)}"
    return tag("path", d="M" + "L".join(points), class_=kind, stroke_dasharray=dashes)


def draw_gaps(plot: Plot, lines: Sequence[Line]) -> list[Markup]:
    """Where no line has a number, a hatched post: it could lie anywhere. Where only some have
    none, a ring for each at the foot."""
    drawn = []
    for at in range(len(plot.labels)):
        hidden = [line for line in lines if not is_finite(line.marks[at])]
        if len(hidden) == len(lines):
            drawn.append(_told(plot, lines[0], at, _post(plot, at)))
        else:
            for height, line in enumerate(hidden):
                ring = _ring(plot, at, line.colour or 0, height)
                drawn.append(_told(plot, line, at, ring))
    return drawn


def _dot(plot: Plot, line: Line, at: int, colour: int) -> Markup:
    mark = line.marks[at]
    if not is_finite(mark):
        return Markup("")
    y = plot.axis.at(mark.value or 0.0)
    radius = 3.5 if plot.step > 9 else 2.0
    dot = tag("circle", cx=plot.x(at), cy=y, r=radius, class_=f"dot {series_class(colour)}")
    return _told(plot, line, at, dot)


def _told(plot: Plot, line: Line, at: int, shape: Markup) -> Markup:
    mark, label = line.marks[at], plot.labels[at]
    words = tooltip(f"{line.name}, {label}" if line.name else label, mark, plot.unit)
    return linked(tag("g", tag("title", words), shape, class_="mark"), mark.href)


def _ring(plot: Plot, at: int, colour: int, height: int) -> Markup:
    y = plot.bottom - 7 - 10 * height
    return tag("circle", cx=plot.x(at), cy=y, r=3.5, class_=f"gap {series_class(colour)}")


def _post(plot: Plot, at: int) -> Markup:
    width = min(plot.step * 0.6, 18.0)
    return tag(
        "rect",
        x=plot.x(at) - width / 2,
        y=plot.top,
        width=width,
        height=plot.bottom - plot.top,
        class_="hidden",
        fill=plot.frame.pattern("hatch"),
    )
