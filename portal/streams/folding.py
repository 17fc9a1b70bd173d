"""Folding text for search: what people type and what places are called meet in one spelling."""

import unicodedata

# Letters that Unicode does not take apart into a base letter and a mark.
_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe"}
_LETTERS |= {"þ": "th"}
# "Xi'an" and "Xian" are one name; other punctuation parts words.
_APOSTROPHES = frozenset("'’‘ʻʼʿʾ`´")
# Only these marks go: in Indic or Arabic writing a mark is a vowel, not an ornament.
_ACCENTS = range(0x0300, 0x0370)


def words(text: str) -> list[str]:
    """The words of a text without case, accents and punctuation.

    "São-Paulo" gives "sao" and "paulo". A word holds letters, marks and digits only, so it can be
    part of a search expression without meaning anything in it.
    """
    return unicodedata.normalize("NFC", text).translate(_FOLDED).split()


def matches(text: str, *names: str) -> bool:
    """Does each word of the text begin a word of one and the same name?"""
    wanted = words(text)
    return any(_begin(wanted, words(name)) for name in names)


def _begin(wanted: list[str], found: list[str]) -> bool:
    return all(any(word.startswith(start) for word in found) for start in wanted)


class _Folded(dict[int, str]):
    """Each character's folded spelling, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        folded = _fold(chr(code))
        if len(self) < 20_000:  # more than all names use; strangers cannot fill the memory
            self[code] = folded
        return folded


def _fold(character: str) -> str:
    if character in _APOSTROPHES:
        return ""
    plain = unicodedata.normalize("NFKD", character).casefold()
    apart = unicodedata.normalize("NFKD", plain)
    bare = "".join(_LETTERS.get(c, c) for c in apart if not _is_ornament(c))
    return "".join(c if _is_in_words(c) else " " for c in unicodedata.normalize("NFC", bare))


def _is_ornament(character: str) -> bool:
    return ord(character) in _ACCENTS or character in _APOSTROPHES


def _is_in_words(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM"


_FOLDED = _Folded()
