"""How wide text is, roughly: the server has no font, and columns must be laid out all the same."""

import unicodedata
from collections.abc import Iterator

_NARROW = set("iIjl.,:;'|!()[] ftr-")
_WIDE = set("mwMW@%—…")


def text_width(words: str, size: float) -> float:
    """In the same unit as the size; a little more than most fonts need."""
    return size * sum(_em(letter) for letter in words)


def cut(words: str, size: float, room: float) -> str:
    """The words, or as many letters as there is room for and an ellipsis."""
    if text_width(words, size) <= room:
        return words
    kept = words
    while kept and text_width(kept + "…", size) > room:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def wrap(words: str, size: float, room: float) -> list[str]:
    """Lines of whole words."""
    return list(_lines(words.split(), size, room))


def _lines(words: list[str], size: float, room: float) -> Iterator[str]:
    line = ""
    for word in words:
        longer = f"{line} {word}".strip()
        if line and text_width(longer, size) > room:
            yield line
            longer = word
        line = longer
    if line:
        yield cut(line, size, room)


def _em(letter: str) -> float:
    if letter in _NARROW:
        return 0.34
    if letter in _WIDE:
        return 0.92
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    return 0.68 if letter.isupper() else 0.58
