"""How often the API may be asked, and a cache that forgives Valkey's absence.

Neither protects a secret: sign-ins are counted in the database (`portal.accounts.sign_in`). So
while Valkey is away both give way, and pages and the API go on.
"""

import math
import time

from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from portal.addresses import address_of
from portal.forgiving_cache import ForgivingCache

__all__ = ["ForgivingCache", "PersonThrottle", "seconds_to_wait"]


class PersonThrottle(BaseThrottle):
    """At most so many calls a minute for each token, person or (for guests) address."""

    def allow_request(self, request: Request, view: object) -> bool:
        kind, who = _caller(request)
        self._wait = seconds_to_wait(who, rate=str(api_settings.DEFAULT_THROTTLE_RATES[kind]))
        return self._wait == 0

    def wait(self) -> float:
        return self._wait


def seconds_to_wait(who: str, *, rate: str) -> int:
    """How long until one more call fits into a rate such as `600/min`; 0 lets it in and counts it.

    A sliding window of two counters: this period's calls, and the last period's in proportion to
    the part of it that still lies within one period from now. Refused calls are not counted, so
    who waits as long as this says is let in. Calls that arrive at the same instant may pass
    together; it is a courtesy between programs, not a lock.
    """
    most, period = parse_rate(rate)
    number, into = divmod(time.time(), period)
    keys = [f"throttle:{who}:{int(number) - 1}", f"throttle:{who}:{int(number)}"]
    counts = cache.get_many(keys)
    before, here = (int(counts.get(key, 0)) for key in keys)
    wait = period * periods_to_wait(before, here, into / period, most)
    if wait <= 0:
        _count(keys[1], lasts=2 * period)
    return max(0, math.ceil(wait))


def periods_to_wait(before: int, here: int, passed: float, most: int) -> float:
    """How long until one more call fits, in periods; 0 if it fits now.

    `before` and `here` are the calls of the last and of this period, of which the part `passed`
    is over. The estimate at the part p is before × (1 − p) + here.
    """
    if before * (1 - passed) + here + 1 <= most:
        return 0.0
    if here + 1 <= most:
        return 1 - (most - 1 - here) / before - passed
    return (1 - passed) + max(0.0, 1 - (most - 1) / here)


def parse_rate(rate: str) -> tuple[int, int]:
    """How many calls in how many seconds: `600/min` is (600, 60)."""
    most, _, unit = rate.partition("/")
    return int(most), {"s": 1, "m": 60, "h": 3600, "d": 86_400}[unit[0]]


def _caller(request: Request) -> tuple[str, str]:
    if request.auth is not None:
        return "person", f"token-{request.auth.pk}"
    if request.user and request.user.is_authenticated:
        return "person", f"person-{request.user.pk}"
    return "anonymous", f"address-{address_of(request)}"


def _count(key: str, *, lasts: int) -> None:
    cache.add(key, 0, timeout=lasts)
    try:
        cache.incr(key)
    except ValueError:  # the cache is away, or forgot the key between the two calls
        return
