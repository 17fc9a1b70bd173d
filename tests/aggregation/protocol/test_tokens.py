"""Tokens: good for one update of one session, under one key."""

import hashlib
import hmac

import pytest

from aggregation.errors import Problem
from aggregation.protocol.tokens import is_token, token

KEY = bytes(range(32))
IDS = {"session": "cd" * 16, "update": "ef" * 8}
TOKEN = token(KEY, **IDS)


def test_it_works() -> None:
    assert is_token(KEY, TOKEN, **IDS)


def test_it_is_what_the_documentation_says() -> None:
    signed = b"mayfly token 1\n" + b"\xcd" * 16 + b"\xef" * 8
    assert hmac.new(KEY, signed, hashlib.sha256).hexdigest()[:32] == TOKEN


@pytest.mark.parametrize("ids", [{**IDS, "session": "ce" * 16}, {**IDS, "update": "ee" * 8}])
def test_it_is_good_for_nothing_else(ids: dict[str, str]) -> None:
    assert not is_token(KEY, TOKEN, **ids)


def test_another_key_makes_another_token() -> None:
    assert not is_token(bytes(32), TOKEN, **IDS)


@pytest.mark.parametrize(
    "given", ["", TOKEN[:-1], TOKEN + "0", TOKEN.upper(), "0" * 32, "é" * 32, "\ud800" * 32]
)
def test_anything_else_is_a_no(given: str) -> None:
    assert not is_token(KEY, given, **IDS)


@pytest.mark.parametrize("spelling", ["", "zz", "CD" * 16, " " * 32, "cd" * 15 + "\n", "é" * 32])
def test_an_id_that_is_none_is_a_no(spelling: str) -> None:
    assert not is_token(KEY, TOKEN, session=spelling, update=IDS["update"])
    assert not is_token(KEY, TOKEN, session=IDS["session"], update=spelling)


@pytest.mark.parametrize("key", [b"", bytes(31), bytes(33)])
def test_a_key_has_32_bytes(key: bytes) -> None:
    with pytest.raises(Problem, match="A token key has 32 bytes"):
        token(key, **IDS)
