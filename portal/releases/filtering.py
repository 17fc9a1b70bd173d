"""Which rows of a table someone asked for, and in which order: read from an address, and written.

`region=2988507&activity=cycling&activity=walking&shown=1&sort=-distance_km&page=3`: pages, exports
and the API understand the same words, so an address can be shared, and shortened to what matters.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import urlencode

from aggregation.compiler.guard.names import nearest
from aggregation.errors import Problem
from aggregation.protocol.domains import Value
from portal.releases.grouping import COUNTRY
from portal.releases.querying import DOWN, UP
from portal.releases.reading import Layout

SHOWN, SORT, PAGE = "shown", "sort", "page"
_OURS = (SHOWN, SORT, PAGE)
# A key that is called as one of our own words is asked for with this before it.
_KEY = "key."
_YES, _NO = ("1", "true", "yes"), ("0", "false", "no", "")
# Nobody types more; a whole country is a key of its own.
MOST_VALUES = 500
_MOST_PAGES = 10**9
# Only places have so many values; to look for the nearest of them would take a second.
_MANY = 1000


class Query(Protocol):
    """What Django's QueryDict has of a dictionary of lists."""

    def __iter__(self) -> Iterator[str]: ...
    def getlist(self, key: str) -> list[str]: ...


@dataclass(frozen=True)
class Filter:
    """Rows and their order. Everything in it is known to the table."""

    # For each key, in the order of the table, the values of which a row may have one.
    where: dict[str, tuple[str, ...]] = field(default_factory=dict)
    shown_only: bool = False
    # One of the layout's `sorts`; empty for the order of the domain.
    sort: str = ""
    order: str = UP
    # From 1.
    page: int = 1

    @classmethod
    def parse(cls, query: Query, layout: Layout, *, beside: Collection[str] = ()) -> "Filter":
        """What an address asks for, or a Problem. `beside` names what the caller reads itself."""
        _know_all(query, layout, beside)
        sort = _last(query, SORT)
        return cls(
            where=dict(_where(query, layout)),
            shown_only=_shown(_last(query, SHOWN)),
            sort=_sort(sort, layout),
            order=DOWN if sort.startswith("-") else UP,
            page=_page(_last(query, PAGE)),
        )

    def querystring(self) -> str:
        """The one short spelling of it, without what goes without saying."""
        pairs = [
            (_KEY + key if key in _OURS else key, value)
            for key, values in self.where.items()
            for value in values
        ]
        if self.shown_only:
            pairs.append((SHOWN, "1"))
        if self.sort:
            pairs.append((SORT, ("-" if self.order == DOWN else "") + self.sort))
        if self.page > 1:
            pairs.append((PAGE, str(self.page)))
        return urlencode(pairs)

    @property
    def is_everything(self) -> bool:
        """Whether it leaves out nothing and keeps the order of the file, page aside."""
        return not (self.where or self.shown_only or self.sort)

    def on_page(self, page: int) -> "Filter":
        return replace(self, page=page)

    def without(self, key: str) -> "Filter":
        return replace(self, where={k: v for k, v in self.where.items() if k != key}, page=1)


def _know_all(query: Query, layout: Layout, beside: Collection[str]) -> None:
    known = [*filter_keys(layout), *_OURS]
    for name in query:
        if name.removeprefix(_KEY) not in known and name not in beside:
            raise Problem(
                f"The table {layout.file.name} takes no parameter {name[:60]!r}.",
                hint=nearest(name, known),
            )


def filter_keys(layout: Layout) -> tuple[str, ...]:
    """Keys that rows can be held by: those of the table, and the country that places lie in."""
    return (COUNTRY, *layout.keys) if layout.has_countries else layout.keys


def _where(query: Query, layout: Layout) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key in filter_keys(layout):
        asked = query.getlist(_KEY + key)
        if key not in _OURS:
            asked = query.getlist(key) + asked
        wanted = set(asked) - {""}
        if len(wanted) > MOST_VALUES:
            raise Problem(
                f"{len(wanted)} values of {key} are too many for one address.",
                hint=f"Ask for at most {MOST_VALUES}, or take the whole table.",
            )
        if wanted:
            yield key, _known_values(key, wanted, layout)


def _known_values(key: str, wanted: set[str], layout: Layout) -> tuple[str, ...]:
    """In the order of the domain."""
    found = layout.known(key, wanted)
    if strange := sorted(wanted.difference(found)):
        raise Problem(
            f"No row of {layout.file.name} has the {key} {strange[0][:60]!r}.",
            hint=_hint(strange[0][:60], layout.values(key)),
        )
    return found


def _hint(value: str, known: Sequence[Value]) -> str:
    if len(known) > _MANY:
        return "Places go by their GeoNames id, which the page /places finds."
    return nearest(value, [str(one) for one in known])


def _shown(text: str) -> bool:
    if text.lower() not in (*_YES, *_NO):
        raise Problem(
            f"{SHOWN} is 1 or 0, not {text[:60]!r}.", hint="With 1, hidden rows are left out."
        )
    return text.lower() in _YES


def _sort(text: str, layout: Layout) -> str:
    name = text.removeprefix("-")
    if name and name not in layout.sorts:
        raise Problem(
            f"The rows of {layout.file.name} cannot be sorted by {name[:60]!r}.",
            hint=nearest(name[:60], list(layout.sorts)),
        )
    return name


def _page(text: str) -> int:
    text = text or "1"
    whole = text.isascii() and text.isdigit() and len(text) <= 11
    if not (whole and 1 <= int(text) <= _MOST_PAGES):
        raise Problem(f"{PAGE} is a whole number from 1, not {text[:60]!r}.", hint="Begin with 1.")
    return int(text)


def _last(query: Query, name: str) -> str:
    return next(reversed(query.getlist(name)), "")
