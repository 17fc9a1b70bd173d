"""Charts and maps as SVG, made on the server: pure functions from numbers to markup.

Every function gives an `<svg>` as text, fully escaped, safe to put into a page as it is. Colours
are classes of charts.css, so a chart follows the page's theme; `standalone` writes them out for
downloads and other sites. Text is never scaled down: `fitted` draws a chart twice, for wide and
narrow rooms; a map is one drawing that sizes its own letters, in an element of class `chart-room`.
"""

from portal.charts.areas import AREAS, Area
from portal.charts.fitting import fitted
from portal.charts.frame import COLOURS
from portal.charts.histogram import histogram
from portal.charts.maps import in_sight, world_map
from portal.charts.shapes import Group, Line, Mark, Place, Shade
from portal.charts.standalone import standalone
from portal.charts.timeline import timeline

__all__ = [
    "AREAS",
    "COLOURS",
    "Area",
    "Group",
    "Line",
    "Mark",
    "Place",
    "Shade",
    "fitted",
    "histogram",
    "in_sight",
    "standalone",
    "timeline",
    "world_map",
]
