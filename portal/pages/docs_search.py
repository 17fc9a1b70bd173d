"""Finding words in the documentation: every section that has them all, best first."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from portal.pages.docs import Page, Shelf
from portal.pages.docs_markdown import Heading, Section

MOST_HITS = 30
_MOST_WORDS = 8
_SNIPPET_CHARACTERS = 220


@dataclass(frozen=True)
class Part:
    """A piece of a snippet; the words that were looked for are marked."""

    text: str
    marked: bool


@dataclass(frozen=True)
class Hit:
    page: Page
    heading: Heading | None
    snippet: tuple[Part, ...]
    score: float

    @property
    def url(self) -> str:
        return self.page.url + (f"#{self.heading.anchor}" if self.heading else "")


def search(shelf: Shelf, query: str) -> list[Hit]:
    wanted = words(query)
    if not wanted:
        return []
    found = [hit for page in shelf.pages for hit in _hits(page, wanted)]
    return sorted(found, key=lambda hit: -hit.score)[:MOST_HITS]


def words(query: str) -> list[str]:
    return re.findall(r"\w+", query.casefold())[:_MOST_WORDS]


def _hits(page: Page, wanted: list[str]) -> Iterator[Hit]:
    for section in page.document.sections:
        own = section.heading.text if section.heading else f"{page.title} {page.summary}"
        everything = f"{page.title} {own} {section.text}".casefold()
        here = f"{own} {section.text}".casefold()
        if all(w in everything for w in wanted) and any(w in here for w in wanted):
            score = sum(_score(word, page.title, own, section.text) for word in wanted)
            yield Hit(page, section.heading, _snippet(page, section, wanted), score)


def _score(word: str, title: str, heading: str, text: str) -> float:
    """A word in a title says more than in a heading, there more than in the text."""
    folded = text.casefold()
    whole = len(re.findall(rf"\b{re.escape(word)}\b", folded))
    return (
        8.0 * (word in title.casefold())
        + 5.0 * (word in heading.casefold())
        + min(folded.count(word), 4) * 0.5
        + min(whole, 4) * 1.0
    )


def _snippet(page: Page, section: Section, wanted: list[str]) -> tuple[Part, ...]:
    text = section.text if section.heading else f"{page.summary} {section.text}"
    any_word = re.compile("|".join(re.escape(w) for w in wanted), re.IGNORECASE)
    first = any_word.search(text)
    begin = max(0, first.start() - _SNIPPET_CHARACTERS // 3) if first else 0
    begin = text.rfind(" ", 0, begin) + 1 if begin else 0
    end = begin + _SNIPPET_CHARACTERS
    cut = text[begin:end] if end >= len(text) else text[begin : text.rfind(" ", begin, end)]
    shown = ("… " if begin else "") + cut + (" …" if end < len(text) else "")
    return tuple(_parts(shown, any_word))


def _parts(text: str, any_word: re.Pattern[str]) -> Iterator[Part]:
    at = 0
    for match in any_word.finditer(text):
        if match.start() > at:
            yield Part(text[at : match.start()], marked=False)
        yield Part(match.group(), marked=True)
        at = match.end()
    if at < len(text):
        yield Part(text[at:], marked=False)
