"""Bodies that stop arriving are given up, and nothing else is."""

import asyncio
from typing import Any

import pytest

from portal.device_api.answers import Refusal
from portal.device_api.requests import HungUp, Request
from portal.device_api.stalls import Stalls


def request(*messages: dict[str, Any], then: str = "stall") -> Request:
    waiting = list(messages)

    async def receive() -> Any:
        if waiting:
            return {"type": "http.request", **waiting.pop(0)}
        if then == "hang up":
            return {"type": "http.disconnect"}
        return await asyncio.Event().wait()

    return Request({"headers": []}, receive)


async def read(asked: Request, stalls: Stalls) -> bytes:
    looking = asyncio.create_task(stalls.run())
    try:
        return await asked.body(100, stalls)
    finally:
        looking.cancel()


def test_a_body_in_pieces_is_put_together():
    pieces = [{"body": b"a", "more_body": True}, {"body": b"b", "more_body": True}, {"body": b"c"}]
    assert asyncio.run(read(request(*pieces), Stalls(60))) == b"abc"


@pytest.mark.parametrize("pieces", [[], [{"body": b"a", "more_body": True}]])
def test_one_that_stalls_is_given_up(pieces):
    async def several() -> list[Any]:
        stalls = Stalls(0.05)
        asked = [read(request(*pieces), stalls) for _ in range(3)]
        return await asyncio.gather(*asked, return_exceptions=True)

    for refusal in asyncio.run(several()):
        assert isinstance(refusal, Refusal)
        assert (refusal.status, refusal.code) == (408, "too_slow")


def test_a_device_that_hangs_up_is_not_one_that_stalls():
    with pytest.raises(HungUp):
        asyncio.run(read(request({"body": b"a", "more_body": True}, then="hang up"), Stalls(60)))


def test_more_than_was_declared_is_not_read_on():
    endless = [{"body": b"x" * 60, "more_body": True}] * 50
    asked = request(*endless)
    with pytest.raises(Refusal, match="longer than its Content-Length") as refused:
        asyncio.run(read(asked, Stalls(60)))
    assert refused.value.status == 413
    assert not asked.is_read


def test_a_request_that_is_cancelled_is_not_one_that_stalls():
    async def cancelled() -> None:
        task = asyncio.create_task(read(request(), Stalls(60)))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
