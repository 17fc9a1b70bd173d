"""How many exports are on their way at once: each holds a thread and a query until it is read.

Counted in this process, so each front end has as many places, and forgets them when it ends. One
person, or for guests one address, has a quarter of them, so that nobody can take them all.
"""

import threading
import weakref
from collections import Counter, deque
from collections.abc import Iterator
from typing import Self

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest

from portal.addresses import address_of
from portal.problems import AllBusy

_taken: Counter[str] = Counter()
_lock = threading.Lock()
# Whose places are free again. Python may drop an export in the middle of `_take`, in its thread:
# whoever notes that must not wait for the lock.
_left: deque[str] = deque()


class Sending:
    """The parts of an export, made in a thread: the event loop belongs to all requests.

    Its place is left after the last part, after a part that failed, and when the answer is closed,
    read or not; but never before the thread is done with the part that it is at, which nobody can
    stop. An answer that nobody closes, as its request was given up before it had one, leaves its
    place when Python drops it.
    """

    def __init__(self, source: Iterator[bytes], request: HttpRequest) -> None:
        who = _who(request)
        _take(who)
        self._source = source
        self._leave = weakref.finalize(self, _left.append, who)
        self._at_a_part = threading.Lock()
        self._is_over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await sync_to_async(self._following)()
        except BaseException:
            self.close()
            raise
        if chunk is None:
            self.close()
            raise StopAsyncIteration
        return chunk

    def close(self) -> None:
        self._is_over = True
        if self._at_a_part.acquire(blocking=False):
            self._at_a_part.release()
            self._give_back()

    def _following(self) -> bytes | None:
        try:
            with self._at_a_part:
                return None if self._is_over else next(self._source, None)
        finally:
            if self._is_over:  # meanwhile
                self._give_back()

    def _give_back(self) -> None:
        self._source = iter(())
        self._leave()


def _take(who: str) -> None:
    most = settings.EXPORTS_AT_ONCE
    own = max(1, most // 4)
    with _lock:
        _count_those_left()
        if _taken[who] >= own:
            raise AllBusy(f"You have {own} exports on their way already.", own=True)
        if _taken.total() >= most:
            raise AllBusy(f"All {most} places for exports are taken.", own=False)
        _taken[who] += 1


def _count_those_left() -> None:
    while _left:
        who = _left.popleft()
        _taken[who] -= 1
        if not _taken[who]:
            del _taken[who]


def _who(request: HttpRequest) -> str:
    if request.user.is_authenticated:
        return f"person-{request.user.pk}"
    return f"address-{address_of(request)}"
