"""What every chart has around its marks: names for screen readers, title, legend, patterns."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts.measure import text_width, wrap
from portal.charts.svg import Markup, join, tag, text

SERIES = 6
# Each plain and striped.
COLOURS = 2 * SERIES
# Sizes of letters, as in charts.css.
SMALL, VALUE, NORMAL, LARGE = 12.0, 12.5, 13.0, 15.0
# How much wider bold letters are.
BOLD = 1.08
# Below this width labels stand above their bars.
NARROW = 480


@dataclass(frozen=True)
class Frame:
    """One chart on the way: its name begins all its ids."""

    name: str
    width: int
    title: str
    # Whether the title is drawn; it is always there for screen readers.
    heading: bool = True

    @property
    def is_narrow(self) -> bool:
        return self.width < NARROW

    def pattern(self, kind: str) -> str:
        return f"url(#{self.name}-{kind})"


@dataclass(frozen=True)
class Key:
    """One entry of a legend."""

    # A series' number, `hidden`, `gap`, `interval` or `band`.
    drawn: int | str
    label: str


def finished(
    frame: Frame,
    *,
    height: float,
    description: str,
    content: Sequence[Markup],
    kind: str = "chart",
) -> str:
    """The whole SVG, with everything below the title in `content`."""
    names = [f"{frame.name}-title", f"{frame.name}-desc"]
    return tag(
        "svg",
        tag("title", frame.title, id=names[0]),
        tag("desc", description, id=names[1]),
        _patterns(frame.name),
        *content,
        xmlns="http://www.w3.org/2000/svg",
        class_=kind,
        id=frame.name,
        viewBox=f"0 0 {frame.width} {round(height)}",
        width=frame.width,
        height=round(height),
        role="graphics-document",
        aria_labelledby=names[0],
        aria_describedby=names[1],
    )


def sentence(frame: Frame, words: str) -> str:
    """A chart that has nothing to draw says so."""
    drawn, y = heading(frame)
    lines = wrap(words, NORMAL, frame.width - 32)
    texts = [text(line, 16.0, y + 30 + 20 * i, "chart-words") for i, line in enumerate(lines)]
    height = y + 28 + 20 * len(lines)
    box = tag(
        "rect",
        x=0.5,
        y=y + 0.5,
        width=frame.width - 1,
        height=height - y - 1,
        rx=8,
        class_="chart-empty",
    )
    return finished(frame, height=height, description=words, content=[drawn, box, *texts])


def heading(frame: Frame) -> tuple[Markup, float]:
    """The title as it is drawn, and where what follows begins."""
    if not frame.heading:
        return Markup(""), 0.0
    lines = wrap(frame.title, BOLD * LARGE, frame.width)
    drawn = [text(one, 0.0, 16 + 20.0 * i, "chart-title") for i, one in enumerate(lines)]
    return join(*drawn), 8 + 20.0 * len(lines)


def legend(frame: Frame, keys: Sequence[Key], y: float) -> tuple[Markup, float]:
    """The entries from left to right, in as many rows as they need."""
    if not keys:
        return Markup(""), y
    drawn, x, y = [], 0.0, y + 14
    for key in keys:
        room = 24 + text_width(key.label, SMALL)
        if x and x + room > frame.width:
            x, y = 0.0, y + 20
        drawn += [_swatch(frame, key.drawn, x, y), text(key.label, x + 20, y, "chart-key")]
        x += room + 14
    return tag("g", *drawn, class_="chart-legend"), y + 8


def notes(frame: Frame, sentences: Sequence[str], y: float) -> tuple[Markup, float]:
    """Small print below the axis."""
    lines = [line for one in sentences for line in wrap(one, SMALL, frame.width)]
    drawn = [text(line, 0.0, y + 16 + 16.0 * i, "chart-note") for i, line in enumerate(lines)]
    return join(*drawn), y + 16.0 * len(lines) + (8 if lines else 0)


def series_class(number: int) -> str:
    return f"s{number % SERIES + 1}"


def is_striped(number: int) -> bool:
    """Beyond the colours there are, the same colours come striped."""
    return (number // SERIES) % 2 == 1


def _swatch(frame: Frame, drawn: int | str, x: float, y: float) -> Markup:
    if drawn == "interval":
        return tag("path", d=f"M{x:g} {y - 4:g}h14m0-4v8m-14-8v8", class_="whisker")
    box = {"x": x, "y": y - 10, "width": 14, "height": 11, "rx": 2}
    if drawn == "band":
        return tag("rect", **box, class_="band s1")
    if drawn == "gap":
        return tag("circle", cx=x + 7, cy=y - 4, r=3.5, class_="gap")
    if not isinstance(drawn, int):
        return tag("rect", **box, class_="hidden", fill=frame.pattern("hatch"))
    filled = tag("rect", **box, class_=series_class(drawn))
    if not is_striped(drawn):
        return filled
    return join(filled, tag("rect", **box, fill=frame.pattern("stripe")))


def _patterns(name: str) -> Markup:
    return tag(
        "defs",
        _pattern(f"{name}-hatch", "hatch", 6),
        _pattern(f"{name}-wide-hatch", "wide-hatch", 30),
        _pattern(f"{name}-stripe", "stripe", 5),
    )


def _pattern(name: str, class_: str, size: int) -> Markup:
    line = tag("path", d=f"M0 0V{size}", class_=class_)
    return tag(
        "pattern",
        line,
        id=name,
        width=size,
        height=size,
        patternUnits="userSpaceOnUse",
        patternTransform="rotate(45)",
    )
