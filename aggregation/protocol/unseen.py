"""Characters that nobody sees, or that draw the text around them as another.

A second person approves what they read, so it has to be what runs. A mark that turns the direction
of writing can draw the end of a comment where it is not; a character without a shape makes two
words of one look; a line break that only some programs know ends a comment for the eye alone
(Boucher and Anderson, "Trojan Source", 2021).
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# Controls, marks of direction and other formats, private use, lone surrogates, line breaks.
_IN_PROSE: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
# What Unicode may give any look tomorrow has no place in what runs.
_IN_SQL: Final = _IN_PROSE | {"Cn"}
# Persian, Hindi and others spell with these two, and so do emoji. They turn nothing and end
# nothing, so words for people may have them.
_JOINERS: Final = frozenset("\u200c\u200d")
# Letters and marks that are drawn as nothing. Emoji have some; names and values of SQL do not.
_SHAPELESS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
_ODD: Final = re.compile(r"[^\t\n\r -~]")
# A line comment of SQL goes on after a lone carriage return; on a page the next line begins.
_ODD_IN_SQL: Final = re.compile(r"\r(?!\n)|[^\t\n\r -~]")
_NAMELESS: Final = {
    "Cc": "CONTROL CHARACTER",
    "Cn": "UNASSIGNED",
    "Co": "PRIVATE USE",
    "Cs": "HALF A CHARACTER",
}

TOLD: Final = "It cannot be seen, and can make one text look like another."
REMEDY: Final = "Remove it, or type the line anew."


@dataclass(frozen=True)
class Unseen:
    """One such character, and where it stands: its offset, its line and column from 1."""

    # U+202E RIGHT-TO-LEFT OVERRIDE
    name: str
    at: int
    line: int
    column: int


def unseen_in_prose(text: str) -> Iterator[Unseen]:
    """In words for people: descriptions, comments. Tabs and line breaks are fine."""
    for odd in _ODD.finditer(text):
        character = odd[0]
        if unicodedata.category(character) in _IN_PROSE and character not in _JOINERS:
            yield _unseen(text, odd.start())


def unseen_in_sql(text: str) -> Iterator[Unseen]:
    """In what runs, comments included: they stand beside it, and may pretend to be it."""
    for odd in _ODD_IN_SQL.finditer(text):
        if unicodedata.category(odd[0]) in _IN_SQL or _SHAPELESS.fullmatch(odd[0]):
            yield _unseen(text, odd.start())


def _unseen(text: str, at: int) -> Unseen:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return Unseen(_name(text[at]), at, line, column)


def _name(character: str) -> str:
    nameless = _NAMELESS.get(unicodedata.category(character), "")
    known = "CARRIAGE RETURN" if character == "\r" else unicodedata.name(character, nameless)
    return f"U+{ord(character):04X} {known}"
