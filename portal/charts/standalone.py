"""A chart that carries its own colours, for a file or another site's page."""

import re
from functools import lru_cache
from pathlib import Path

from portal.charts.frame import Frame, notes
from portal.charts.svg import tag

_STYLES = Path(__file__).resolve().parents[2] / "static" / "css"
MARGIN = 16
_SIZE = re.compile(r'viewBox="0 0 (\d+) (\d+)" width="\d+" height="\d+"')
_TOKEN = re.compile(r"(--[\w-]+):\s*([^;]+);")
_LIGHT_DARK = re.compile(r"light-dark\(([^,()]+), ([^()]+)\)")
_USE = re.compile(r"var\((--[\w-]+)\)")


def standalone(svg: str, *, dark: bool = False, source: str = "") -> str:
    """The same drawing with its styles inside, every colour written out, a margin, and below it
    where it comes from."""
    size = _SIZE.search(svg)
    if not size:
        raise ValueError("Only a chart can stand alone: this text has no size.")
    inner = int(size[1])
    small, bottom = notes(Frame("", inner, ""), [source], float(size[2]))
    width, height = inner + 2 * MARGIN, round(bottom) + 2 * MARGIN
    box = f'viewBox="-{MARGIN} -{MARGIN} {width} {height}" width="{width}" height="{height}"'
    opened = svg[: size.start()] + box + svg[size.end() : svg.index(">") + 1]
    ground = tag("rect", class_="chart-ground", x=-MARGIN, y=-MARGIN, width=width, height=height)
    inside = svg[svg.index(">") + 1 :].removesuffix("</svg>")
    return f"{opened}<style>{_styles(dark)}</style>{ground}{inside}{small}</svg>"


@lru_cache(maxsize=2)
def _styles(dark: bool) -> str:
    """The part of charts.css that is about SVG, with tokens replaced by what they stand for."""
    tokens = _tokens(dark)
    text = (_STYLES / "charts.css").read_text()
    inside = text[text.index("/* Inside the drawing") : text.index("/* Around the drawing")]
    inside = re.sub(r"/\*.*?\*/", "", inside, flags=re.DOTALL)
    inside = _LIGHT_DARK.sub(lambda found: found[2 if dark else 1], inside)
    while _USE.search(inside):
        inside = _USE.sub(lambda found: tokens[found[1]], inside)
    return re.sub(r"\s+", " ", inside).strip()


def _tokens(dark: bool) -> dict[str, str]:
    text = "".join((_STYLES / name).read_text() for name in ("tokens.css", "charts.css"))
    text = _LIGHT_DARK.sub(lambda found: found[2 if dark else 1], text)
    return dict(reversed(_TOKEN.findall(text)))
