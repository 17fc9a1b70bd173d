"""Headers of strangers: what is read of them, and that none is kept for being long."""

from typing import Any

import pytest

from portal.device_api import requests
from portal.device_api.answers import Refusal
from portal.device_api.requests import Request
from portal.device_api.transport import Transport


async def nothing() -> Any:
    raise AssertionError


def length(value: bytes, most: int = 1000) -> int:
    return Request({"headers": [(b"content-length", value)]}, nothing).length(most)


@pytest.mark.parametrize(("value", "number"), [(b"0", 0), (b"1000", 1000), (b"0000000007", 7)])
def test_a_length_is_a_number(value, number):
    assert length(value) == number


@pytest.mark.parametrize(
    ("value", "status"),
    [(b"", 411), (b"-1", 400), (b"x" * 50, 400), (b"1001", 413), (b"0" * 50, 413)],
)
def test_any_other_is_refused(value, status):
    with pytest.raises(Refusal) as refused:
        length(value)
    assert refused.value.status == status


def test_long_headers_are_not_kept_in_memory():
    kept, transport = requests._known_number.cache_info(), Transport()
    for number in range(3):
        with pytest.raises(Refusal, match="At most"):
            length(b"0" * 100_000 + b"%d" % number)
        with pytest.raises(Refusal, match="a host that is not this one"):
            transport.check("https", b"a" * 100_000 + b"%d" % number)
    assert kept == requests._known_number.cache_info()
    assert not transport.known


def test_made_up_spellings_of_our_own_hosts_are_few_in_memory(settings):
    settings.ALLOWED_HOSTS = [".example.org"]
    transport = Transport()
    for number in range(200):
        transport.check("https", b"a%d.example.org" % number)
    assert len(transport.known) < 100


def test_a_host_that_is_known_over_https_is_not_so_without(settings):
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["example.org"], True
    transport = Transport()
    for _ in range(2):
        transport.check("https", b"example.org")
        with pytest.raises(Refusal, match="HTTPS only"):
            transport.check("http", b"example.org")
