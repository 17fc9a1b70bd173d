"""What a timeline is drawn of: axes, bands, lines, dots, and the names at their ends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from portal.releases.charts.frame import SMALL, Frame, is_striped, series_class
from portal.releases.charts.measure import cut, text_width
from portal.releases.charts.scales import Axis, tick_words
from portal.releases.charts.shapes import Line, Mark
from portal.releases.charts.svg import Markup, linked, number, tag, text
from portal.releases.charts.words import is_finite, tooltip

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
    drawn = [text(f"{scale} {plot.unit}".strip(), 0.0, plot.top - 10, "axis-title")]
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


def draw_line(plot: Plot, line: Line, index: int) -> Markup:
    """Bands and strokes for each run of shown marks, then a dot for every mark."""
    runs = list(_runs(line.marks))
    bands = [_band(plot, run, index) for run in runs]
    strokes = [_stroke(plot, run, index) for run in runs if len(run) > 1]
    dots = [_dot(plot, line, number, index) for number in range(len(line.marks))]
    return tag("g", *bands, *strokes, *dots)


def line_labels(plot: Plot, lines: Sequence[Line]) -> list[Markup]:
    """Each name beside the last shown point of its line, moved apart where they would touch."""
    ends = []
    for index, line in enumerate(lines):
        shown = [mark.value for mark in line.marks if is_finite(mark)]
        if shown:
            ends.append((plot.axis.at(shown[-1] or 0.0), index, line.name))
    placed, lowest = [], plot.top - 16.0
    for wanted, index, name in sorted(ends):
        lowest = max(wanted, lowest + 16)
        placed.append((lowest, index, name))
    over = max(0.0, lowest - plot.bottom) if placed else 0.0
    room = plot.frame.width - plot.right - 12
    return [
        text(cut(name, 12.5, room), plot.right + 8, y - over + 4, f"line-name t{index % 6 + 1}")
        for y, index, name in placed
    ]


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


def _band(plot: Plot, run: list[Dot], index: int) -> Markup:
    """The intervals as an area; of a point alone, as an upright bar."""
    sides = run if len(run) > 1 else [run[0], run[0]]
    nudge = [0.0] * len(run) if len(run) > 1 else [-4.0, 4.0]
    upper, lower = [], []
    for (at, mark), aside in zip(sides, nudge, strict=True):
        value, width = mark.value or 0.0, mark.half_width or 0.0
        x = number(plot.x(at) + aside)
        upper.append(f"{x} {number(plot.axis.at(value + width))}")
        lower.append(f"{x} {number(plot.axis.at(value - width))}")
    path = "M" + "L".join([*upper, *reversed(lower)]) + "Z"
    return tag("path", d=path, class_=f"band {series_class(index)}")


def _stroke(plot: Plot, run: list[Dot], index: int) -> Markup:
    points = [f"{number(plot.x(at))} {number(plot.axis.at(mark.value or 0.0))}" for at, mark in run]
    dashes = "6 4" if is_striped(index) else None
    kind = f"stroke {series_class(index)}"
    return tag("path", d="M" + "L".join(points), class_=kind, stroke_dasharray=dashes)


def _dot(plot: Plot, line: Line, at: int, index: int) -> Markup:
    mark = line.marks[at]
    label = f"{line.name}, {plot.labels[at]}" if line.name else plot.labels[at]
    said = tag("title", tooltip(label, mark, plot.unit))
    if is_finite(mark):
        y = plot.axis.at(mark.value or 0.0)
        shape = tag("circle", cx=plot.x(at), cy=y, r=3.5, class_=f"dot {series_class(index)}")
    else:
        shape = _gap(plot, at, index)
    return linked(tag("g", said, shape, class_="mark"), mark.href)


def _gap(plot: Plot, at: int, index: int) -> Markup:
    """A hatched post from top to bottom: the number could lie anywhere."""
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
