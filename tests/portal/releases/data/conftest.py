"""The released days of the pages' tests, and the bodies of answers."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.portal.releases.browsing.conftest import (
    SECOND,
    client,
    collecting,
    few,
    kept,
    keys,
    parts,
    released,
    streams,
)

__all__ = ["client", "collecting", "few", "kept", "keys", "parts", "released", "streams"]

AT = f"/releases/trips-by-region/{SECOND}"


@pytest.fixture
def body() -> Callable[[Any], bytes]:
    """The whole body of a response, streamed or not."""

    def read(response: Any) -> bytes:
        async def parts() -> bytes:
            return b"".join([part async for part in response.streaming_content])

        return asyncio.run(parts()) if response.streaming else response.content

    return read
