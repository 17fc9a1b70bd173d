import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.streams.folding import matches, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("São Paulo", ["sao", "paulo"]),
        ("ZÜRICH", ["zurich"]),
        ("Zu\u0308rich", ["zurich"]),
        ("Łódź", ["lodz"]),
        ("København", ["kobenhavn"]),
        ("İstanbul, ıstanbul", ["istanbul", "istanbul"]),
        ("Straße", ["strasse"]),
        ("Saint-Denis", ["saint", "denis"]),
        ("Xi'an / Xi’an", ["xian", "xian"]),
        ("東京 上海市", ["東京", "上海市"]),
        ("서울", ["서울"]),
        ("शंघाई", ["शंघाई"]),
        ("Ｔｏｋｙｏ", ["tokyo"]),
        ("6th of October", ["6th", "of", "october"]),
        ("", []),
        ("*\"'():^-+🙂\0\ud800 ", []),
    ],
)
def test_words_are_without_case_accents_and_punctuation(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_hold_nothing_that_means_something_in_a_search(text: str) -> None:
    for word in words(text):
        assert word
        assert not set(word) & set("\"'*()^:+-{}\0 \t\n")
        assert word.encode()  # no lone surrogates


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    once = words(text)
    assert words(" ".join(once)) == once


def test_each_word_must_begin_a_word_of_the_same_name() -> None:
    assert matches("pau sao", "São Paulo")
    assert not matches("sao york", "São Paulo", "New York")
    assert not matches("aulo", "São Paulo")
    assert matches("", "anything")
