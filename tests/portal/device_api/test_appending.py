"""Appending: many in one round trip, each with an answer of its own."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from portal.device_api.appending import Appender
from portal.device_api.line import Line
from portal.device_api.outage import Away
from tests.portal.device_api.front_end import Valkey


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    made = Valkey(tmp_path_factory.mktemp("v"))
    made.start()
    yield made
    made.stop()


@asynccontextmanager
async def running(address: str) -> Any:
    line = Line(address, seconds=2)
    appender = Appender(line)
    task = asyncio.create_task(appender.run())
    try:
        yield appender
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        appender.close()
        await line.close()


def commands(valkey: Valkey, name: str) -> int:
    return int(valkey.client.info("commandstats").get(f"cmdstat_{name}", {}).get("calls", 0))


def test_what_comes_together_goes_together(valkey: Valkey) -> None:
    async def append() -> list[int]:
        async with running(valkey.url) as appender:
            return await asyncio.gather(*(appender.append(queue, b"x") for _ in range(200)))

    queue = secrets.token_hex(8)
    valkey.client.rpush(queue, b"")
    before = commands(valkey, "rpushx")
    assert set(asyncio.run(append())) == {201}
    assert commands(valkey, "rpushx") == before + 1


def test_queues_and_counters_have_their_own_answers(valkey: Valkey) -> None:
    here, gone, wrong, counter = (secrets.token_hex(8) for _ in range(4))
    valkey.client.rpush(here, b"")
    valkey.client.set(wrong, b"no list")

    async def append() -> list[Any]:
        async with running(valkey.url) as appender:
            asked = [appender.append(q, b"x") for q in (here, gone, wrong)]
            asked.append(appender.add_one(counter))
            asked.append(appender.add_one(counter))
            return await asyncio.gather(*asked, return_exceptions=True)

    length, none, error, count, same = asyncio.run(append())
    assert (length, none, count, same) == (2, 0, 2, 2)
    assert isinstance(error, Away)


def test_one_that_hangs_up_takes_nobody_along(valkey: Valkey) -> None:
    queue = secrets.token_hex(8)
    valkey.client.rpush(queue, b"")

    async def one(appender: Appender, number: int) -> int:
        return await appender.append(queue, b"%d" % number)

    async def append() -> list[Any]:
        async with running(valkey.url) as appender:
            tasks = [asyncio.create_task(one(appender, number)) for number in range(50)]
            await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

    replies = asyncio.run(append())
    assert all(isinstance(reply, asyncio.CancelledError) for reply in replies[::2])
    assert set(replies[1::2]) == {51}
    # What was under way is appended all the same: nothing was promised, and nothing is lost.
    assert len(valkey.client.lrange(queue, 1, -1)) == 50


def test_an_appender_that_ends_leaves_nobody_waiting(valkey: Valkey) -> None:
    async def append() -> int:
        async with running(valkey.url) as appender:
            waiting = appender.append("queue", b"x")
        with pytest.raises(Away):
            await waiting
        return await appender.append("queue", b"x")

    with pytest.raises(Away):
        asyncio.run(append())


def test_a_connection_that_was_closed_is_made_anew(valkey: Valkey) -> None:
    queue = secrets.token_hex(8)
    valkey.client.rpush(queue, b"")

    async def append() -> list[int]:
        async with running(valkey.url) as appender:
            first = await appender.append(queue, b"x")
            valkey.client.client_kill_filter(_type="normal", skipme=True)
            async with asyncio.timeout(30):
                while not appender._line._replies.is_lost:  # the news is under way
                    await asyncio.sleep(0)
            return [first, await appender.append(queue, b"y")]

    assert asyncio.run(append()) == [2, 3]


def test_without_a_server_everyone_is_told(tmp_path: Path) -> None:
    async def append() -> list[Any]:
        async with running(f"unix://{tmp_path / 'nothing.sock'}") as appender:
            asked = [appender.append("queue", b"x") for _ in range(5)]
            return await asyncio.gather(*asked, return_exceptions=True)

    assert all(isinstance(one, Away) for one in asyncio.run(append()))
