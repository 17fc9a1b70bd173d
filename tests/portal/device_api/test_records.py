"""Questions to the database: few, shared, and given up when nobody answers."""

import asyncio
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import OperationalError

from portal.collection.selectors import Outcome
from portal.device_api import fates, records
from portal.device_api.fates import Fates
from portal.device_api.outage import Away
from portal.device_api.records import Records, TooManyQuestions


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as made:
        yield made


class Database:
    """Answers when it is told to, and counts what it is asked."""

    def __init__(self, *, waits: bool = True) -> None:
        self.asked: list[str] = []
        self.go_on = threading.Event()
        if not waits:
            self.go_on.set()

    def answer(self, about: str) -> str:
        self.asked.append(about)
        self.go_on.wait(10)
        return about.upper()


def test_the_same_question_is_asked_once(threads):
    database = Database()

    async def ask() -> list[Any]:
        asked = Records(threads)
        tasks = [asyncio.create_task(asked.ask(database.answer, "a")) for _ in range(500)]
        await asyncio.sleep(0)
        for task in tasks[:250]:  # half of them hang up, the first one too
            task.cancel()
        database.go_on.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = asyncio.run(ask())
    assert answers[250:] == ["A"] * 250
    assert all(isinstance(one, asyncio.CancelledError) for one in answers[:250])
    assert database.asked == ["a"]


def test_a_stranger_s_questions_do_not_pile_up(threads):
    database = Database()

    async def ask() -> list[Any]:
        asked = Records(threads)
        names = [secrets.token_hex(16) for _ in range(records.MOST_QUESTIONS + 40)]
        tasks = [asyncio.create_task(asked.ask(database.answer, name)) for name in names]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        database.go_on.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = asyncio.run(ask())
    assert sum(isinstance(one, TooManyQuestions) for one in answers) == 40
    assert sum(isinstance(one, str) for one in answers) == records.MOST_QUESTIONS


def test_a_database_that_hangs_is_away(threads):
    database = Database()

    async def ask() -> None:
        asked = Records(threads, seconds=0.05)
        for name in "abc":
            with pytest.raises(Away, match="The database"):
                await asked.ask(database.answer, name)

    asyncio.run(ask())
    database.go_on.set()


def test_an_error_says_nothing_of_what_was_asked(threads):
    def broken(about: str) -> str:
        raise OperationalError(f"syntax error near {about}")

    async def ask() -> None:
        await Records(threads).ask(broken, "secret")

    with pytest.raises(Away) as away:
        asyncio.run(ask())
    assert "secret" not in repr(away.value)
    assert away.value.__cause__ is None


def test_what_is_over_is_kept_and_what_is_not_is_asked_again(threads, monkeypatch):
    found = [None, Outcome(over=False), Outcome(over=True, receipts={"2026-11-09": b"12345678"})]
    asked: list[str] = []

    def outcome(session: str) -> Outcome | None:
        asked.append(session)
        return found[min(len(asked), 3) - 1]

    monkeypatch.setattr(fates, "outcome", outcome)
    monkeypatch.setattr(fates, "_NOT_YET_SECONDS", 0.0)

    async def ask() -> list[Outcome | None]:
        made = Fates(Records(threads))
        return [await made.of("a") for _ in range(6)]

    assert asyncio.run(ask()) == [*found, found[2], found[2], found[2]]
    assert asked == ["a"] * 3


def test_not_yet_is_not_asked_again_at_once(threads, monkeypatch):
    asked: list[str] = []

    def outcome(session: str) -> Outcome:
        asked.append(session)
        return Outcome(over=False)

    monkeypatch.setattr(fates, "outcome", outcome)
    monkeypatch.setattr(fates, "_NOT_YET_SECONDS", 60.0)

    async def ask() -> None:
        made = Fates(Records(threads))
        for _ in range(5):
            assert await made.of("a") == Outcome(over=False)

    asyncio.run(ask())
    assert asked == ["a"]


def test_no_more_is_kept_than_there_is_room_for(threads, monkeypatch):
    monkeypatch.setattr(fates, "MOST_BYTES", 100)
    monkeypatch.setattr(fates, "MOST_KEPT", 20)
    sizes = {"big": 96, "small": 8, "empty": 0}
    asked: list[str] = []

    def outcome(session: str) -> Outcome:
        asked.append(session)
        size = sizes[session.split("-", maxsplit=1)[0]]
        return Outcome(over=True, receipts={"2026-11-09": bytes(size)})

    monkeypatch.setattr(fates, "outcome", outcome)

    async def ask(*sessions: str) -> None:
        for session in sessions:
            await made.of(session)

    made = Fates(Records(threads))
    asyncio.run(ask("big-1", "small-1", "small-1"))
    assert asked == ["big-1", "small-1"]  # the big one had to go
    asyncio.run(ask("small-1", "big-1"))
    assert asked[2:] == ["big-1"]
    asyncio.run(ask(*(f"empty-{n}" for n in range(25)), "big-1"))
    assert asked[-1] == "big-1"
