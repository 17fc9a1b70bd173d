"""A chart or map for the frame of another site: what is said beside it, and how high a frame that
holds it all is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from portal.charts.measure import wrap
from portal.releases.browsing.drawing import Chart
from portal.releases.browsing.leading import caveat, leading
from portal.releases.browsing.map_drawing import Map
from portal.releases.browsing.tables import Tables

# In pixels, as embed.html and its styles have it.
FRAME_WIDTH: Final = 760
_PADDING, _GAP, _TITLE, _LINE = 16, 12, 30, 27
# The source and the guarantee, which may need a second line.
_FOOT: Final = "x" * 130
_SIZE: Final = re.compile(r'viewBox="0 0 (\d+) (\d+)"')


def said_of(drawn: Chart | Map, tables: Tables) -> list[str]:
    """What a page says beside it, the answer first."""
    if isinstance(drawn, Map):
        return [one for one in (drawn.warning, drawn.remark) if one]
    first, remark = leading(drawn, tables, None), caveat(drawn.view, tables)
    beside = drawn.warning or (remark.sentence if remark else "")
    return [one for one in (first.sentence if first else "", beside, drawn.remark) if one]


def frame_height(drawn: Chart | Map, said: Sequence[str]) -> int:
    """Of a frame as wide as we propose; on a narrower screen what is higher can be scrolled."""
    room = FRAME_WIDTH - 2 * _PADDING
    found = _SIZE.search(drawn.figure)
    width, height = (int(found[1]), int(found[2])) if found else (room, room)
    texts = [len(wrap(one, 16, room)) * _LINE + _GAP for one in (*said, _FOOT)]
    title = len(wrap(drawn.title, 22, room)) * _TITLE
    return round(2 * _PADDING + title + height * room / width + sum(texts) + _GAP)
