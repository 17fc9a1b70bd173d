"""Many connections at once, each with bytes of its own: what comes back on each."""

import asyncio
from collections.abc import Iterable

from tests.portal.device_api.raw_http import RawReply, parsed

AT_ONCE = 128
MOST_REPLIES = 8


def ask_all(
    port: int, every: Iterable[bytes], *, patience: float, most: int = MOST_REPLIES
) -> list[list[RawReply]]:
    """So many replies to each; fewer if the server hangs up or says nothing for so long."""

    async def together() -> list[list[RawReply]]:
        room = asyncio.Semaphore(AT_ONCE)
        return await asyncio.gather(*(_ask(port, raw, room, patience, most) for raw in every))

    return asyncio.run(together())


async def _ask(
    port: int, raw: bytes, room: asyncio.Semaphore, patience: float, most: int
) -> list[RawReply]:
    async with room:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(raw)
            return await _replies(reader, patience, most, head=raw.startswith(b"HEAD "))
        finally:
            writer.transport.abort()


async def _replies(
    reader: asyncio.StreamReader, patience: float, most: int, *, head: bool
) -> list[RawReply]:
    data, found = b"", list[RawReply]()
    while len(found) < most:
        reply, data = parsed(data, head=head)
        if reply is not None:
            found.append(reply)
            continue
        try:
            more = await asyncio.wait_for(reader.read(65_536), patience)
        except (TimeoutError, OSError):
            break
        if not more:
            break
        data += more
    return found
