"""Reading the documentation as tests do: its tables, its code, its words."""

from collections.abc import Iterator

from markdown_it.token import Token

from portal.pages import docs
from portal.pages.docs_markdown import parser, plain

Row = list[str]


def parsed(page: str) -> list[Token]:
    return parser().parse((docs.folder() / f"{page}.md").read_text())


def tables(page: str) -> Iterator[tuple[str, list[Row]]]:
    """Each table of the page, as the heading it stands under and its rows."""
    heading, rows, row = "", [], []
    for before, token in zip([None, *parsed(page)], parsed(page), strict=False):
        if token.type == "inline" and before and before.type == "heading_open":
            heading = plain(token)
        elif token.type == "inline" and before and before.type in ("td_open", "th_open"):
            row.append(plain(token))
        elif token.type == "tr_close":
            rows, row = [*rows, row], []
        elif token.type == "table_close":
            yield heading, rows[1:]
            rows = []


def text(page: str) -> str:
    """The words of a page, without marks and line breaks."""
    return " ".join(plain(token) for token in parsed(page) if token.type == "inline")


def fences(page: str, info: str) -> list[Token]:
    """The code blocks of a page whose first word, or whole mark, is this."""
    found = [token for token in parsed(page) if token.type == "fence"]
    return [token for token in found if token.info == info or token.info.startswith(f"{info} ")]
