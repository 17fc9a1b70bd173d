"""Characters that nobody sees: which they are, what they are called, and where they stand."""

import sys
import unicodedata

import pytest

from aggregation.protocol.unseen import Unseen, unseen_in_prose, unseen_in_sql


def test_it_names_them_and_says_where_they_stand() -> None:
    text = "one\ntwo\u202e\n\u200bthree"
    assert list(unseen_in_prose(text)) == [
        Unseen("U+202E RIGHT-TO-LEFT OVERRIDE", at=7, line=2, column=4),
        Unseen("U+200B ZERO WIDTH SPACE", at=9, line=3, column=1),
    ]


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\u2066", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("\u00ad", "U+00AD SOFT HYPHEN"),
        ("\u2028", "U+2028 LINE SEPARATOR"),
        ("\U000e0041", "U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("\x07", "U+0007 CONTROL CHARACTER"),
        ("\x85", "U+0085 CONTROL CHARACTER"),
        ("\ue000", "U+E000 PRIVATE USE"),
        ("\ud800", "U+D800 HALF A CHARACTER"),
    ],
)
def test_none_is_for_words_or_for_queries(character: str, name: str) -> None:
    for look in (unseen_in_prose, unseen_in_sql):
        assert [found.name for found in look(f"a{character}b")] == [name]


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\u200c", "U+200C ZERO WIDTH NON-JOINER"),
        ("\u200d", "U+200D ZERO WIDTH JOINER"),
        ("\ufe0f", "U+FE0F VARIATION SELECTOR-16"),
        ("\u3164", "U+3164 HANGUL FILLER"),
        ("\uffff", "U+FFFF UNASSIGNED"),
        ("\r", "U+000D CARRIAGE RETURN"),
    ],
)
def test_some_are_for_words_alone(character: str, name: str) -> None:
    assert list(unseen_in_prose(f"a{character}b")) == []
    assert [found.name for found in unseen_in_sql(f"a{character}b")] == [name]


@pytest.mark.parametrize(
    "text",
    ["", "SELECT\ta\r\n  FROM b\n", "Zürich – 10 km² …", "नमस्ते", "שלום", "東京", "🚲", "e\u0301"],
)
def test_what_is_seen_is_fine(text: str) -> None:
    assert list(unseen_in_prose(text)) == list(unseen_in_sql(text)) == []


def test_no_mark_of_direction_is_left_out() -> None:
    """Whatever Unicode calls one."""
    turning = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI", "B", "BN", "S"}
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if (
            unicodedata.bidirectional(character) in turning
            and character not in "\t\n\r\u200c\u200d"
        ):
            assert list(unseen_in_prose(character)), hex(point)
            assert list(unseen_in_sql(character)), hex(point)
