"""What is said of a chart: its title, its unit, and what its shares are of."""

from __future__ import annotations

from typing import Final

from portal.releases.browsing.choosing import View
from portal.releases.browsing.measuring import PER
from portal.releases.browsing.ranking import Ranking
from portal.releases.browsing.tables import Tables
from portal.releases.browsing.units import counted, spoken
from portal.releases.reasons import listed

_TITLES: Final = {"amount": "{}", "share": "shares of {}", "person": "{} per inhabitant"}
_OF_WHAT_IS_SHOWN: Final = (
    "The sum over all rows is not shown, so these are shares of the shown rows only; as shares "
    "of the full total they would be smaller."
)
_ONE_OF_WHAT_IS_SHOWN: Final = (
    "The sum over all rows is not shown, so this is a share of the shown rows only; as a share of "
    "the full total it would be smaller."
)


def title(view: View, tables: Tables, ranked: Ranking | None) -> str:
    """`Distance by region (cycling)`."""
    what = spoken(view.metric, tables.unit(view.metric))
    parts = [_TITLES[view.measure].format(what).capitalize()]
    if ranked:
        parts = [f"Share of {tables.name_of(ranked.key)(ranked.value)} in {what}"]
    keys = [key for key in (view.by, view.second) if key]
    if keys:
        parts.append("by " + " and ".join(keys))
    but = ranked.key if ranked else ""
    held = [tables.name_of(key)(value) for key, value in view.where.items() if key != but]
    if ranked and ranked.among:
        held.append(f"among {_among(ranked, tables)}")
    return " ".join(parts) + (f" ({', '.join(held)})" if held else "")


def unit(view: View, tables: Tables) -> str:
    """What its numbers count, to stand behind one: `km`, `trips`, `%`."""
    found = counted(view.metric, tables.unit(view.metric))
    if view.measure == "share":
        return "%"
    return f"{found} per {PER:,} inhabitants" if view.measure == "person" else found


def of_what_is_shown(*, is_one: bool) -> str:
    """That its shares are not of the sum over all rows."""
    return _ONE_OF_WHAT_IS_SHOWN if is_one else _OF_WHAT_IS_SHOWN


def among_what_is_shown(ranked: Ranking, tables: Tables) -> str:
    """The same of shares that are each of one place's whole."""
    name = tables.name_of(ranked.key)(ranked.value)
    return (
        f"In most of these places noise drowns the sum over every {ranked.key}. "
        f"So this is what {name} is of {_among(ranked, tables)} together, which are shown "
        "in each of them."
    )


def _among(ranked: Ranking, tables: Tables) -> str:
    return listed([tables.name_of(ranked.key)(one) for one in ranked.among])
