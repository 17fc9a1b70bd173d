"""Finding words in the documentation: every section that has them all, best first."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from portal.pages.docs import Page, Shelf
from portal.pages.docs_markdown import Heading, Section

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
    wanted = [_Word.of(word) for word in words(query)]
    if not wanted:
        return []
    found = [hit for page in shelf.pages for hit in _hits(page, wanted)]
    return sorted(found, key=lambda hit: -hit.score)


def words(query: str) -> list[str]:
    return re.findall(r"\w+", query.casefold())[:_MOST_WORDS]


@dataclass(frozen=True)
class _Word:
    # Where it stands by itself, in the singular or plural; where one begins with it; and anywhere.
    # A knob such as MAYFLY_PORT has two words.
    whole: re.Pattern[str]
    begun: re.Pattern[str]
    anywhere: re.Pattern[str]

    @classmethod
    def of(cls, word: str) -> "_Word":
        spelt = "(?:ε|epsilon)" if word in ("ε", "epsilon") else re.escape(word)
        begun = rf"(?<![^\W_]){spelt}"
        patterns = (rf"{begun}(?:e?s)?(?![^\W_])", begun, spelt)
        return cls(*(re.compile(one, re.IGNORECASE) for one in patterns))

    def score(self, title: str, heading: str, text: str) -> float:
        """A word in a title says more than in a heading, there more than in the text; and much
        more by itself than as a part of another."""
        whole = len(self.whole.findall(text))
        parts = len(self.anywhere.findall(text)) - whole
        return (
            8.0 * self._fits(title)
            + 5.0 * self._fits(heading)
            + 1.5 * min(whole, 4)
            + 0.2 * min(parts, 4)
        )

    def _fits(self, words: str) -> float:
        if self.whole.search(words):
            return 1.0
        return 0.4 if self.begun.search(words) else 0.1 if self.anywhere.search(words) else 0.0


def _hits(page: Page, wanted: list[_Word]) -> Iterator[Hit]:
    for section in page.document.sections:
        own = section.heading.text if section.heading else f"{page.title} {page.summary}"
        here = f"{own} {section.text}"
        everything = f"{page.title} {here}"
        if all(word.anywhere.search(everything) for word in wanted) and any(
            word.anywhere.search(here) for word in wanted
        ):
            score = sum(word.score(page.title, own, section.text) for word in wanted)
            yield Hit(page, section.heading, _snippet(page, section, wanted), score)


def _snippet(page: Page, section: Section, wanted: list[_Word]) -> tuple[Part, ...]:
    text = section.text if section.heading else f"{page.summary} {section.text}"
    any_word = re.compile("|".join(word.anywhere.pattern for word in wanted), re.IGNORECASE)
    by_itself = (word.whole.search(text) for word in wanted)
    first = next((found for found in by_itself if found), None) or any_word.search(text)
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
