"""What a chart shows, as its address says it: which metric, by which keys, of which rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Final
from urllib.parse import urlencode

from aggregation.compiler.guard.names import nearest, there_are
from aggregation.errors import Problem
from portal.releases.browsing.tables import Tables
from portal.releases.grouping import COUNTRY
from portal.streams import selectors as streams
from portal.streams.folding import matches, words

TOPS: Final = (5, 10, 20, 50)
_USUAL_TOP: Final = 10
LAYOUTS: Final = {
    "grouped": "side by side",
    "stacked": "stacked",
    "multiples": "one panel each",
}
MEASURES: Final = {
    "amount": "amounts",
    "share": "shares",
    "person": "per inhabitant",
}
# Words of an address that are not about keys. A key that is called so stands with `key.` before it.
_OURS: Final = frozenset(
    [
        "metric",
        "by",
        "second",
        "sort",
        "top",
        "layout",
        "log",
        "measure",
        "within",
        "colour",
        "uncertainty",
        "theme",
        "task",
        "window",
    ]
)
SORTS: Final = {"value": "largest first", "name": "by name"}
# A shorter text is a country's code, or nothing: UK is no beginning of Ukraine. Of a longer one
# than any name has, the rest is not read.
_SHORTEST: Final = 3
_LONGEST: Final = 200


@dataclass(frozen=True)
class View:
    metric: str
    # The keys of the histogram; the second one may be empty, and so may both for the total alone.
    by: str
    second: str = ""
    # Keys that are held at one value each. Where it is the first key, it is the one row.
    where: Mapping[str, str] = field(default_factory=dict)
    sort: str = "value"
    top: int = _USUAL_TOP
    layout: str = "grouped"
    log: bool = False
    # The amounts themselves, shares of the sum over all rows, or amounts per inhabitant.
    measure: str = "amount"

    @classmethod
    def parse(cls, asked: Mapping[str, str], tables: Tables) -> View:
        """A choice that this release cannot answer is a Problem that names what it can."""
        metric = one_of(asked.get("metric", ""), tables.metrics, "metric", tables.metrics[0])
        by = one_of(asked.get("by", ""), tables.keys, "key", _usual_by(asked, tables))
        second = one_of(asked.get("second", ""), [k for k in tables.keys if k != by], "key", "")
        if tables.region_key and second == tables.region_key:
            by, second = second, by
        if {by, second} == {tables.region_key, COUNTRY} and COUNTRY not in tables.own_keys:
            raise Problem("A place lies in one country: choose one of the two keys.")
        where = held_values(asked, tables, but=())
        if by == COUNTRY and tables.region_key in where and COUNTRY not in tables.own_keys:
            raise Problem("A place lies in one country: show by another key, or by region.")
        second = "" if second in where else second
        usual = "amount" if second else usual_measure(metric, by, where, tables)
        measure = one_of(asked.get("measure", ""), tuple(MEASURES), "measure", usual)
        if measure != "amount":
            tables.needs_sum(metric)
        if measure == "person" and not (tables.region_key and tables.region_key in {by, *where}):
            raise Problem(
                "Inhabitants are known of places only.", hint="Choose a place, or show by place."
            )
        return cls(
            metric=metric,
            by=by,
            second=second,
            where=where,
            sort=one_of(asked.get("sort", ""), tuple(SORTS), "order", "value"),
            top=_top(asked.get("top", "")),
            layout=_layout(asked.get("layout", ""), metric, second, tables),
            log=asked.get("log") == "1",
            measure=measure,
        )

    @property
    def query(self) -> str:
        """As short as it can be: what is as usual is left out.

        How it is measured is told where something is held: what is usual then depends on it.
        """
        usual = View(metric=self.metric, by=self.by)
        held = {field_name(key): value for key, value in self.where.items()}
        said = {"metric": self.metric, "by": self.by, "second": self.second, **held}
        for name in ("sort", "top", "layout", "measure"):
            value = getattr(self, name)
            said[name] = "" if value == getattr(usual, name) else str(value)
        said["measure"] = self.measure if self.where else said["measure"]
        said["log"] = "1" if self.log else ""
        return urlencode({name: value for name, value in said.items() if value})

    @property
    def held_query(self) -> str:
        """The metric and what is held, for the page of one of its places."""
        rest = {key: value for key, value in self.where.items() if key not in (COUNTRY, self.by)}
        held = {field_name(key): value for key, value in rest.items()}
        return urlencode({"metric": self.metric, **held})

    def but(self, **changes: object) -> View:
        return replace(self, **changes)  # type: ignore[arg-type]


def field_name(key: str) -> str:
    """What a key is called in addresses and forms."""
    return f"key.{key}" if key in _OURS else key


def usual_key(tables: Tables) -> str:
    """One that is no place: those are on the map."""
    places = (tables.region_key, tables.country_key)
    return next((k for k in tables.keys if k not in places), tables.keys[0] if tables.keys else "")


def _usual_by(asked: Mapping[str, str], tables: Tables) -> str:
    """Places, where an address holds the usual key and says no more: which city cycles most?"""
    usual, place = usual_key(tables), tables.region_key or tables.country_key
    return place if place and asked.get(field_name(usual), "").strip() else usual


def compared_key(by: str, where: Mapping[str, str], tables: Tables) -> str:
    """The key whose value is held while places are compared, such as the activity; or nothing."""
    places = (tables.region_key, tables.country_key)
    held = [key for key in where if key not in places]
    if not by or by not in places or not held:
        return ""
    usual = usual_key(tables)
    return usual if usual in held else held[0]


def usual_measure(metric: str, by: str, where: Mapping[str, str], tables: Tables) -> str:
    """Where people do most of something: a share does not depend on how many phones take part."""
    is_share = compared_key(by, where, tables) and not tables.is_ratio(metric)
    return "share" if is_share else "amount"


def region_of(text: str) -> str:
    """The id of the place that a text names: its id, or the largest place of that name."""
    name, _, country = text.rpartition(",")
    code = country.strip().upper()
    found = streams.place(text.strip())
    if found is None and name and len(code) == 2:
        found = next(iter(streams.places_matching(name, country=code, limit=1)), None)
    if found is None:
        found = next(iter(streams.places_matching(text, limit=1)), None)
    if found is None:
        raise Problem(
            f"No place is called {text[:80]!r}.",
            hint="Accents do not matter; a beginning is enough.",
        )
    return str(found.geonameid)


def country_of(text: str) -> str:
    """The code of the country that a text names: its code, its name, or how that begins."""
    text = text.strip()[:_LONGEST]
    code, wanted, known = text.upper(), words(text), streams.countries()
    whole = [one for one in known if one.code == code or (wanted and words(one.name) == wanted)]
    is_long = len("".join(wanted)) >= _SHORTEST
    found = whole or [one for one in known if is_long and matches(text, one.name)]
    if len(found) == 1:
        return found[0].code
    if found:
        names = sorted(one.name for one in found)
        raise Problem(f"Several countries are called {text[:60]!r}.", hint=there_are(names))
    near = _nearest(" ".join(wanted), {" ".join(words(one.name)): one.name for one in known})
    hint = f"Did you mean {near}?" if near else "Its name or its code is understood."
    raise Problem(f"This release has no country {text[:60]!r}.", hint=hint)


def _nearest(wanted: str, known: Mapping[str, str]) -> str:
    return next((known[one] for one in get_close_matches(wanted, list(known), n=1)), "")


def held_values(
    asked: Mapping[str, str], tables: Tables, *, but: Collection[str]
) -> dict[str, str]:
    """Keys that are held at one value each, other than these."""
    found = {}
    for key in tables.keys:
        value = asked.get(field_name(key), "").strip()
        if not value or key in but:
            continue
        if key == tables.region_key:
            found[key] = region_of(value)
        elif key == tables.country_key:
            found[key] = country_of(value)
        else:
            found[key] = one_of(value, tables.domain(key), key, "")
    if tables.region_key in found and COUNTRY not in tables.own_keys:
        # It lies in its country anyhow.
        found.pop(COUNTRY, None)
    return found


def one_of(value: str, known: Iterable[str], what: str, usual: str) -> str:
    """The value, if it is one of those known; the usual one for none."""
    return _one_of(value, known, usual, refusal=f"This release has no {what}")


def task_of(name: str, known: Iterable[str], which: str, usual: str) -> str:
    """The same of tasks. `which` says what those known are: `to compare`."""
    return _one_of(name, known, usual, refusal=f"There is no task {which} that is called")


def _one_of(value: str, known: Iterable[str], usual: str, *, refusal: str) -> str:
    options = list(known)
    if not value:
        return usual
    if value in options:
        return value
    raise Problem(f"{refusal} {value[:60]!r}.", hint=nearest(value[:60], options))


def _layout(text: str, metric: str, second: str, tables: Tables) -> str:
    found = one_of(text, tuple(LAYOUTS), "layout", "grouped")
    if second and found == "stacked" and tables.is_ratio(metric):
        raise Problem(
            f"{metric} is a ratio, and its bars do not add up: they are drawn side by side or in "
            "one panel each, not stacked."
        )
    return found


def _top(text: str) -> int:
    if not text:
        return _USUAL_TOP
    if text.isascii() and text.isdigit() and len(text) <= 6 and 1 <= int(text) <= TOPS[-1]:
        return int(text)
    raise Problem(
        f"A chart shows 1 to {TOPS[-1]} rows, not {text[:20]!r}.", hint="The table has all."
    )
