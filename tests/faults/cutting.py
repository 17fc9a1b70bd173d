"""A door to PostgreSQL that can be slammed at a commit, so that nobody knows whether it happened.

Bytes go to and fro unread, unless a commit is to be cut: then it is passed on and its answer
withheld, or it never arrives. Whoever asked sees the same: a connection that is gone.
"""

from __future__ import annotations

import asyncio
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

COMMIT = b"COMMIT\x00"
NAME = re.compile(rb"application_name\x00([^\x00]*)\x00")
CHUNK = 1 << 16


@dataclass
class Cut:
    """Commits of one part that follow a statement, and whether each of them gets through."""

    part: str
    after: bytes
    gets_through: list[bool] = field(default_factory=list)


class Cutter:
    def __init__(self, door: Path, behind: Path) -> None:
        self._door, self._behind = door, behind
        self._wanted: list[Cut] = []
        self.cuts = 0
        self._end, self._ready = asyncio.Event(), threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._open()), daemon=True)
        self._thread.start()
        self._ready.wait(10)

    def cut(self, part: str, *gets_through: bool, after: str) -> None:
        """The next commits of parts whose name begins so, in transactions with such a statement."""
        self._wanted.append(Cut(part, after.encode(), list(gets_through)))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    async def _open(self) -> None:
        """Until the end; whoever is still at the door then is turned away."""
        self._loop = asyncio.get_running_loop()
        await asyncio.start_unix_server(self._serve, self._door)
        self._ready.set()
        await self._end.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there: asyncio.StreamWriter | None = None
        with suppress(OSError):
            answers, there = await asyncio.open_unix_connection(self._behind)
            back = asyncio.create_task(_passed(answers, writer))
            await self._asked(reader, there, back)
            back.cancel()
        for one in (writer, there):
            if one is not None:
                one.close()

    async def _asked(
        self, reader: asyncio.StreamReader, there: asyncio.StreamWriter, back: asyncio.Task[None]
    ) -> None:
        name, transaction = "", b""
        while chunk := await reader.read(CHUNK):
            name = name or _name_in(chunk)
            if self._wanted:
                transaction += chunk
            if COMMIT in chunk:
                cut = self._found(name, transaction)
                transaction = b""
                if cut is not None:
                    self.cuts += 1
                    back.cancel()
                    if cut.gets_through.pop(0):
                        there.write(chunk)
                        await there.drain()
                    return
            there.write(chunk)
            await there.drain()

    def _found(self, name: str, transaction: bytes) -> Cut | None:
        wanted = [one for one in self._wanted if one.gets_through and name.startswith(one.part)]
        return next((one for one in wanted if one.after in transaction), None)


async def _passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one of the two hangs up; then the other is told."""
    with suppress(OSError):
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
    writer.close()


def _name_in(chunk: bytes) -> str:
    found = NAME.search(chunk)
    return found[1].decode(errors="replace") if found else ""
