"""One page of documentation: from Markdown to a title, a summary, HTML, headings and sections.

A page starts with `# Title` and a paragraph of one line, its summary. Links between pages name
the files (`settings.md#people`), so that they also work where the files are read as they are.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from aggregation.errors import Problem
from portal.pages import docs_states, docs_steps, docs_tables


@dataclass(frozen=True)
class Heading:
    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Section:
    """What stands under one heading, as plain text; the opening has no heading."""

    heading: Heading | None
    text: str


@dataclass(frozen=True)
class Document:
    title: str
    summary: str
    html: str
    headings: tuple[Heading, ...]
    sections: tuple[Section, ...]


def read(text: str) -> Document:
    tokens = parser().parse(text)
    title, summary, body = _opening(tokens)
    headings = tuple(_mark_headings(body))
    _rewrite_links(body)
    docs_tables.dress(body)
    return Document(
        title=title,
        summary=summary,
        html=parser().renderer.render(body, parser().options, {}),
        headings=headings,
        sections=tuple(_sections(body, headings)),
    )


def parser() -> MarkdownIt:
    """HTML in a page is shown, never obeyed."""
    found = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    return found.enable("table")


def slug(text: str) -> str:
    """A heading's anchor: lower-case words with hyphens between."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9_]+", plain))


def address(page: str) -> str:
    return reverse("docs") if page == "index" else reverse("docs_page", args=[page])


def plain(inline: Token) -> str:
    """The words of an inline token, without their marks."""
    parts = (" " if child.type == "softbreak" else child.content for child in inline.children or ())
    return "".join(parts)


class _Renderer(RendererHTML):
    """Wraps wide tables, links headings to themselves, draws states and steps."""

    def heading_open(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        anchor = str(tokens[idx].attrs["id"])
        return f'<{tokens[idx].tag} id="{anchor}"><a class="anchor" href="#{anchor}">'

    def heading_close(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return f"</a></{tokens[idx].tag}>\n"

    def table_open(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        caption = '<caption class="visually-hidden">{}</caption>\n'
        opening = f'<div class="table-wrap"><table{self.renderAttrs(tokens[idx])}>'
        return opening + format_html(caption, tokens[idx].meta["caption"])

    def table_close(self, *_: Any) -> str:
        return "</table></div>\n"

    def code_inline(self, tokens: Sequence[Token], idx: int, *args: Any) -> str:
        """The name of a table's row, if it is long, goes on in the next line behind a dot."""
        drawn = super().code_inline(tokens, idx, *args)
        return drawn.replace(".", ".<wbr>") if tokens[idx].meta.get("names_row") else drawn

    def fence(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        language, _space, entity = tokens[idx].info.strip().partition(" ")
        if language == "states":
            return docs_states.diagram(entity.strip(), tokens[idx].content)
        if language == "steps":
            return docs_steps.path(tokens[idx].content)
        # In the frame that its button stands in: put around it later, it would move what follows.
        code = '<div class="docs-code"><pre data-copy><code>{}</code></pre></div>\n'
        return format_html(code, tokens[idx].content)


def _opening(tokens: list[Token]) -> tuple[str, str, list[Token]]:
    kinds = [f"{token.type} {token.tag}" for token in tokens[:5]]
    if kinds != _OPENING or "\n" in tokens[4].content:
        raise Problem(
            "A page of the documentation lacks its title or summary.",
            hint="It starts with `# Title`, an empty line and a summary of one line.",
        )
    return plain(tokens[1]), plain(tokens[4]), tokens[6:]


_OPENING = ["heading_open h1", "inline ", "heading_close h1", "paragraph_open p", "inline "]


def _mark_headings(tokens: list[Token]) -> Iterator[Heading]:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = plain(inline)
            opening.attrs["id"] = slug(text)
            yield Heading(int(opening.tag[1]), text, slug(text))


def _rewrite_links(tokens: list[Token]) -> None:
    for token in tokens:
        for child in token.children or ():
            target = str(child.attrs.get("href", ""))
            page, _dot, anchor = target.partition(".md")
            if child.type == "link_open" and _dot and "/" not in page:
                child.attrs["href"] = address(page) + anchor


def _sections(tokens: list[Token], headings: Sequence[Heading]) -> Iterator[Section]:
    following = iter(headings)
    heading: Heading | None = None
    words: list[str] = []
    for before, token in pairwise([Token("", "", 0), *tokens]):
        if token.type == "heading_open":
            yield Section(heading, " ".join(words))
            heading, words = next(following), []
        elif token.type == "inline" and before.type not in ("heading_open", "th_open"):
            words.append(plain(token))
        elif token.type == "fence":
            words.append(" ".join(token.content.split()))
        elif token.type == "td_close":
            words.append("·")
    yield Section(heading, " ".join(words))
