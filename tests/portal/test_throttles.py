import logging
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from hypothesis import given
from hypothesis import strategies as st

from portal import throttles
from portal.forgiving_cache import ForgivingCache, server_at
from portal.throttles import PersonThrottle, parse_rate, periods_to_wait
from portal.valkey import queue_client

LIMIT = 60


@pytest.fixture
def away(tmp_path):
    """A cache whose Valkey is not there."""
    return ForgivingCache(f"unix://{tmp_path}/nobody.sock", {"KEY_PREFIX": "t"})


def _guest(address):
    return SimpleNamespace(auth=None, user=AnonymousUser(), META={"REMOTE_ADDR": address})


def _person(pk, token=None):
    user = SimpleNamespace(is_authenticated=True, pk=pk)
    return SimpleNamespace(auth=token, user=user, META={})


def test_a_cache_that_is_away_behaves_as_an_empty_one(away):
    assert away.get("a") is None
    assert away.get("a", 7) == 7
    assert away.get_many(["a", "b"]) == {}
    assert away.add("a", 1) is True
    assert away.set("a", 1) is None
    assert away.set_many({"a": 1}) == []
    assert away.has_key("a") is False
    assert away.delete("a") is False
    assert away.delete_many(["a"]) is None
    assert away.touch("a") is False
    assert away.clear() is None
    assert away.get_or_set("a", 3) == 3
    with pytest.raises(ValueError, match="not found"):
        away.incr("a")


def test_its_absence_is_logged_once(away, caplog):
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            away.get("a")
            away.server.away_until = 0.0  # as if the pause were over
    assert [r.message for r in caplog.records] == [
        "Valkey is away (ConnectionError): the cache is empty until it is back."
    ]


def test_nobody_is_asked_for_a_while_after_a_failure(away):
    away.get("a")
    assert away.server.away_until > 0
    assert server_at(*away._servers) is away.server  # all requests know


def test_it_works_again_when_valkey_is_back(valkey, caplog):
    cache.server.away = True
    with caplog.at_level(logging.WARNING):
        cache.set("a", {"x": [1, None, "é"]})
    assert cache.get("a") == {"x": [1, None, "é"]}
    assert "Valkey is back" in caplog.text


def test_clearing_leaves_the_queues_alone(valkey):
    queue_client().set("mayfly:queue:test", b"sealed")
    cache.set("a", 1)
    cache.clear()
    assert cache.get("a") is None
    assert queue_client().get("mayfly:queue:test") == b"sealed"
    queue_client().delete("mayfly:queue:test")


def test_reading_never_runs_code(valkey):
    import pickle

    key = cache.make_key("planted")
    queue_client().set(key, pickle.dumps(print))
    with pytest.raises(ValueError, match=r"."):
        cache.get("planted")
    queue_client().delete(key)


@pytest.fixture
def noon(valkey, monkeypatch):
    """A machine clock of the test's own, at the start of a minute."""
    moment = SimpleNamespace(now=1_794_830_400.0)
    monkeypatch.setattr(throttles, "time", SimpleNamespace(time=lambda: moment.now))
    cache.clear()
    return moment


def _allowed(request, calls):
    return [PersonThrottle().allow_request(request, None) for _ in range(calls)].count(True)


def test_a_guest_gets_sixty_calls_a_minute(noon):
    assert settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]["anonymous"] == f"{LIMIT}/min"
    assert _allowed(_guest("192.0.2.1"), LIMIT + 5) == LIMIT
    assert _allowed(_guest("192.0.2.2"), 5) == 5


def test_a_person_and_each_token_are_counted_apart(noon):
    token = SimpleNamespace(pk=1)
    assert _allowed(_person(1), 605) == 600
    assert _allowed(_person(1, token), 605) == 600
    assert _allowed(_person(2), 5) == 5


@pytest.mark.parametrize("into", [0, 10.5, 59.9])
def test_who_waits_as_long_as_told_is_let_in(noon, into):
    noon.now += into
    guest = _guest("192.0.2.3")
    _allowed(guest, LIMIT)
    throttle = PersonThrottle()
    assert not throttle.allow_request(guest, None)
    noon.now += throttle.wait()
    assert PersonThrottle().allow_request(guest, None)


def test_without_valkey_everyone_is_let_in(away, monkeypatch):
    monkeypatch.setattr(throttles, "cache", away)
    assert _allowed(_guest("192.0.2.4"), LIMIT + 5) == LIMIT + 5


def test_rates_are_read():
    assert parse_rate("600/min") == (600, 60)
    assert parse_rate("5/hour") == (5, 3600)


@given(
    before=st.integers(0, 50),
    here=st.integers(0, 50),
    passed=st.floats(0, 1, exclude_max=True),
    most=st.integers(1, 20),
)
def test_the_wait_is_long_enough_and_no_longer(before, here, passed, most):
    wait = periods_to_wait(before, here, passed, most)

    def estimate(later):
        at = passed + later
        return before * (1 - at) + here if at < 1 else here * max(0.0, 2 - at)

    assert wait >= 0
    assert estimate(wait) + 1 <= most + 1e-6
    if wait > 1e-6:
        assert estimate(wait * (1 - 1e-9) - 1e-9) + 1 > most - 1e-6
