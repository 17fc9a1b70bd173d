"""How many exports are on their way at once: each holds a thread and a query until it is read.

Counted in this process, so each front end has as many places, and forgets them when it ends. One
person, or for guests one address, has a quarter of them, so that nobody can take them all.
"""

import threading
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest

from portal.problems import AllBusy

_taken: Counter[str] = Counter()
_lock = threading.Lock()


def sent(source: Iterator[bytes], request: HttpRequest) -> AsyncIterator[bytes]:
    """The parts of an export, made in a thread: the event loop belongs to all requests."""
    return _parts(source, _Place(_who(request)))


class _Place:
    """One of the places, until it is left: at the end, or when nobody waits for it any longer."""

    def __init__(self, who: str) -> None:
        _take(who)
        self.leave = weakref.finalize(self, _leave, who)


async def _parts(source: Iterator[bytes], place: _Place) -> AsyncIterator[bytes]:
    def following() -> bytes | None:
        return next(source, None)

    try:
        while (chunk := await sync_to_async(following)()) is not None:
            yield chunk
    finally:
        place.leave()


def _take(who: str) -> None:
    most = settings.EXPORTS_AT_ONCE
    own = max(1, most // 4)
    with _lock:
        if _taken[who] >= own:
            raise AllBusy(f"You have {own} exports on their way already.", own=True)
        if _taken.total() >= most:
            raise AllBusy(f"All {most} places for exports are taken.", own=False)
        _taken[who] += 1


def _leave(who: str) -> None:
    with _lock:
        _taken[who] -= 1
        if not _taken[who]:
            del _taken[who]


def _who(request: HttpRequest) -> str:
    if request.user.is_authenticated:
        return f"person-{request.user.pk}"
    return f"address-{request.META.get('REMOTE_ADDR', '')}"
