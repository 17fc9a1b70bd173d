"""Opening updates in children of a worker, so that one session has more than one core.

A batch is shared among the children that are idle at the moment. Whatever becomes of a child, its
share is opened here instead: children save time, and decide nothing. What they are told and why
that is safe: `aggregation.sessions.child`.
"""

import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection

import msgspec
from django.conf import settings

from aggregation.protocol.sealing import Helper, SealedUpdate, open_with

# Fewer are opened sooner than they are sent.
LEAST_SHARE = 16
# Machine seconds for a batch, well below those after which a silent session is declared dead: what
# children have not done by then is opened here.
_PATIENCE_SECONDS = 4.0
# For each child at least, when others have used up the time.
_LEAST_SECONDS = 0.05

# Of the environment: where Python finds itself.
_NEEDED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")

Opened = list[bytes | None]
_opened = msgspec.msgpack.Decoder(Opened)
_encoder = msgspec.msgpack.Encoder()


def helper() -> Helper | None:
    """For this process's sessions; nothing where they open by themselves."""
    return _openers(os.getpid()).open_all if settings.OPENERS else None


def forget() -> None:
    """After a session: no process that was told its key goes on."""
    if settings.OPENERS:
        _openers(os.getpid()).close()


@cache
def _openers(_process: int) -> "Openers":
    """One for each process: whoever was forked has children of their own."""
    return Openers(settings.OPENERS)


class Openers:
    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._busy = 0
        # Of the children that may be asked again.
        self._term = 0

    def open_all(self, private: bytes, info: bytes, batch: Sequence[SealedUpdate]) -> Opened:
        """As `open_with`, in the same order."""
        children = self._take(len(batch) // LEAST_SHARE)
        try:
            return _shared(children, private, info, batch)
        except BaseException:
            # What they still answer would be taken for the answer to whoever asks them next.
            for child in children:
                child.end()
            raise
        finally:
            self._give_back(children)

    def close(self) -> None:
        """End all children, the busy ones with their answer: freed memory is not wiped."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._term += 1
        for child in idle:
            child.end()

    def _take(self, most: int) -> list["_Child"]:
        """Idle children, at most so many; they are started when there is work for them."""
        with self._lock:
            taken = [self._idle.pop() for _ in range(min(most, len(self._idle)))]
            missing = min(most, self._count - self._busy) - len(taken)
            with suppress(OSError):  # such as no memory for another one
                taken.extend(_Child(self._term) for _ in range(missing))
            self._busy += len(taken)
        return taken

    def _give_back(self, children: Sequence["_Child"]) -> None:
        with self._lock:
            self._busy -= len(children)
            kept = [child for child in children if child.is_well and child.term == self._term]
            self._idle.extend(kept)
        for child in children:
            if child not in kept:
                child.end()


def _shared(
    children: Sequence["_Child"], private: bytes, info: bytes, batch: Sequence[SealedUpdate]
) -> Opened:
    if not children:
        return open_with(private, info, batch)
    size = -(-len(batch) // len(children))
    shares = [batch[at : at + size] for at in range(0, len(batch), size)]
    pairs = list(zip(children, shares, strict=False))
    until = time.monotonic() + _PATIENCE_SECONDS
    for child, share in pairs:
        _order(child, private, info, share, until)
    found: Opened = []
    for child, share in pairs:
        answer = child.answer(until)
        if answer is None or len(answer) != len(share):
            answer = open_with(private, info, share)
        found.extend(answer)
    return found


def _order(
    child: "_Child", private: bytes, info: bytes, share: Sequence[SealedUpdate], until: float
) -> None:
    """The key beside what it opens, for as long as it takes to send: then the bytes are wiped."""
    order = bytearray()
    try:
        _encoder.encode_into((private, info, share), order)
        child.ask(order, until)
    finally:
        order[:] = bytes(len(order))


class _Child:
    """One process, and the only end of a socket to it."""

    def __init__(self, term: int) -> None:
        self.term = term
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = _started(theirs.fileno())
            except OSError:
                ours.close()
                raise
        # Both close the same number; so only one that was started has both.
        self._socket = ours
        self._line = Connection(ours.fileno())
        self.is_well = True

    def ask(self, order: bytearray, until: float) -> None:
        try:
            self._wait(socket.SO_SNDTIMEO, until)
            self._line.send_bytes(order)
        except OSError:
            self.end()

    def answer(self, until: float) -> Opened | None:
        """What it opened; nothing if it cannot any more, or not by then."""
        if not self.is_well:
            return None
        try:
            self._wait(socket.SO_RCVTIMEO, until)
            return _opened.decode(self._line.recv_bytes())
        except (OSError, EOFError, msgspec.MsgspecError):
            self.end()
            return None

    def _wait(self, which: int, until: float) -> None:
        """The kernel ends a call that takes longer."""
        seconds = max(until - time.monotonic(), _LEAST_SECONDS)
        limit = struct.pack("ll", int(seconds), int(seconds % 1 * 1_000_000))
        self._socket.setsockopt(socket.SOL_SOCKET, which, limit)

    def end(self) -> None:
        self.is_well = False
        if self._socket.fileno() >= 0:
            self._socket.detach()  # the line closes it
        self._line.close()
        self._process.kill()
        self._process.wait()


def _started(number: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "aggregation.sessions.child", str(number)]
    return subprocess.Popen(  # noqa: S603 - ourselves
        command,
        cwd=settings.BASE_DIR,
        # Nothing of the worker's secrets and addresses.
        env={name: os.environ[name] for name in _NEEDED if name in os.environ},
        pass_fds=[number],
        stdin=subprocess.DEVNULL,
    )
