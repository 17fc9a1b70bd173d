"""Tables of the documentation: named columns, and rows that can stand as cards on a phone."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it.token import Token

# A table with this many columns does not fit a phone: its rows become cards, each cell with the
# name of its column. The roles keep it a table for those who hear it.
STACKED_FROM = 3

_ROLES = {
    "table_open": "table",
    "thead_open": "rowgroup",
    "tbody_open": "rowgroup",
    "tr_open": "row",
    "th_open": "columnheader",
    "td_open": "cell",
}


def dress(tokens: Sequence[Token]) -> None:
    """Set the captions, classes, scopes, roles and labels of every table among the tokens."""
    for caption, table in _tables(tokens):
        names = [b.content for a, b in pairwise(table) if a.type == "th_open"]
        stacked = len(names) >= STACKED_FROM
        table[0].meta["caption"] = caption
        table[0].attrs["class"] = "table table-stack" if stacked else "table"
        for token in table:
            if token.type == "th_open":
                token.attrs["scope"] = "col"
            if stacked and token.type in _ROLES:
                token.attrs["role"] = _ROLES[token.type]
        _mark_names(table)
        if stacked:
            _label_cells(table, names)


def _tables(tokens: Sequence[Token]) -> Iterator[tuple[str, Sequence[Token]]]:
    """Each table's tokens, with the heading it stands under."""
    heading, opened = "", 0
    for at, (before, token) in enumerate(pairwise([Token("", "", 0), *tokens])):
        if before.type == "heading_open":
            heading = token.content
        elif token.type == "table_open":
            opened = at
        elif token.type == "table_close":
            yield heading, tokens[opened : at + 1]


def _mark_names(table: Sequence[Token]) -> None:
    for row, _, inline in zip(table, table[1:], table[2:], strict=False):
        if row.type == "tr_open" and inline.children and inline.children[0].type == "code_inline":
            inline.children[0].meta["names_row"] = True


def _label_cells(table: Sequence[Token], names: list[str]) -> None:
    cells = [token for token in table if token.type == "td_open"]
    for number, cell in enumerate(cells):
        cell.attrs["data-label"] = names[number % len(names)]
