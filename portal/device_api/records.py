"""The few things that come from the database: asked in threads, never once per request.

Whoever asks the same while it is being asked gets the same answer: a thousand devices that want a
new client task at once are one question.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from django.db import Error, close_old_connections

from portal.device_api.outage import Away, Outage

T = TypeVar("T")

# Questions under way; more than these, and devices come back later.
MOST_QUESTIONS = 64
# Machine seconds: a database that takes longer is away.
ANSWER_SECONDS = 5.0


class TooManyQuestions(Exception):
    pass


class Records:
    def __init__(self, threads: ThreadPoolExecutor, *, seconds: float = ANSWER_SECONDS) -> None:
        self._threads = threads
        self._seconds = seconds
        self._asking: dict[tuple[Callable[[str], Any], str], asyncio.Task[Any]] = {}
        self._outage = Outage()

    async def ask(self, question: Callable[[str], T], about: str) -> T:
        asking = self._asking.get((question, about))
        if asking is None:
            if len(self._asking) >= MOST_QUESTIONS:
                raise TooManyQuestions
            asking = asyncio.create_task(self._answered(question, about))
            self._asking[question, about] = asking
            # Whoever asked may have hung up: an error that nobody wants is none.
            asking.add_done_callback(lambda task: task.cancelled() or task.exception())
        # One device that hangs up does not take the question from the others.
        return cast(T, await asyncio.shield(asking))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _answered(self, question: Callable[[str], T], about: str) -> T:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._seconds):
                found = await loop.run_in_executor(self._threads, _asked, question, about)
        except (_NoAnswer, TimeoutError):
            raise Away("The database", self._outage.goes_on()) from None
        finally:
            del self._asking[question, about]
        self._outage.is_over()
        return found


class _NoAnswer(Exception):
    pass


def _asked(question: Callable[[str], T], about: str) -> T:
    close_old_connections()
    try:
        return question(about)
    except Error:
        # Without the cause: its text may hold what was asked about.
        raise _NoAnswer from None
    finally:
        close_old_connections()
