"""One table of a release as a page: filtered, sorted, and in pages of rows."""

from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.http import QueryDict

from aggregation.errors import Problem
from portal.releases.browsing.choosing import region_of
from portal.releases.browsing.tables import Tables
from portal.releases.files import TableFile
from portal.releases.filtering import SHOWN, Filter, filter_keys
from portal.releases.reading import DOWN, PAGE_SIZE, Layout, Row, count_rows, read_rows
from portal.releases.showing import TOTAL

# Words of the address that are about the page, not about rows.
_BESIDE = ("table", "parts", "order")
_MOST_NAMES = 20


class FilteredRows:
    """All rows that are asked for, of which only the page that is shown is read."""

    def __init__(self, file: TableFile, layout: Layout, asked: Filter) -> None:
        self.file, self.layout, self.asked = file, layout, asked
        self._count = count_rows(file, layout, asked.where, asked.shown_only)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, rows: slice) -> list[Row]:
        first, end, _ = rows.indices(len(self))
        return read_rows(
            self.file,
            self.layout,
            where=self.asked.where,
            shown_only=self.asked.shown_only,
            sort=self.asked.sort,
            order=self.asked.order,
            first=first,
            count=end - first,
        )


def table_of(query: QueryDict, tables: Tables) -> dict[str, Any]:
    """Everything the page of a table shows: usually the rows that are shown, with a switch to all.

    Exports are of the same rows as the page, and say so in their addresses.
    """
    shown = tables.shown
    usual = next((f.name for f in shown.files if f.name == "cells"), TOTAL)
    file = shown.file(query.get("table", usual)) or shown.files[0]
    layout = shown.layout(file)
    given = Filter.parse(_understood(query, tables, layout), layout, beside=_BESIDE)
    given = given if query.get(SHOWN) else replace(given, shown_only=True)
    asked = given if given.sort else replace(given, sort=layout.columns[0].value, order=DOWN)
    rows = FilteredRows(file, layout, asked)
    cut: Paginator[Any] = Paginator(rows, PAGE_SIZE)  # type: ignore[arg-type] # by slices
    page = cut.get_page(asked.page)
    names = shown.names(layout.keys)
    kept = count_rows(file, layout, asked.where, shown_only=True)
    return {
        "file": file,
        "layout": layout,
        "asked": asked,
        "page": page,
        "rows": [
            ([name(value) for name, value in zip(names, row.keys, strict=True)], row)
            for row in page.object_list
        ],
        "sort": asked.sort,
        "order": asked.order,
        "with_parts": query.get("parts") == "1",
        "held": [_choice(tables, layout, key, asked) for key in filter_keys(layout)],
        # The same rows, for exports.
        "query": given.on_page(1).querystring(),
        "shown_rows": kept,
        "all_rows": count_rows(file, layout, asked.where),
    }


def _understood(query: QueryDict, tables: Tables, layout: Layout) -> QueryDict:
    """Places by their ids where somebody typed a name; nothing that is empty.

    Another table may lack a key that was held: the form that chose it still says so.
    """
    found = query.copy()
    for name in list(found):
        values = [value for value in found.getlist(name) if value.strip()]
        if name in tables.keys and name not in filter_keys(layout):
            values = []
        if name == tables.region_key:
            values = _ids(values)
        found.setlist(name, values) if values else found.pop(name)
    return found


def _ids(texts: list[str]) -> list[str]:
    """Of places by id or name. Each name is a search, so there are few of them."""
    wanted = list(dict.fromkeys(texts))
    if sum(not text.isdigit() for text in wanted) > _MOST_NAMES:
        raise Problem(
            f"More than {_MOST_NAMES} names of places are too many for one address.",
            hint="Give their GeoNames ids, or hold the country.",
        )
    return [region_of(text) for text in wanted]


def _choice(tables: Tables, layout: Layout, key: str, asked: Filter) -> dict[str, Any]:
    """What a key can be held at: a list where it is short, else what somebody types."""
    chosen, is_place = asked.where.get(key, ()), key == tables.region_key
    return {
        "key": key,
        "chosen": chosen,
        "options": [] if is_place else tables.options(key, layout.values(key)),
        "is_place": is_place,
        "written": tables.name_of(key)(chosen[0]) if chosen else "",
    }
