"""One child process: started, its lines relayed, restarted with back-off, stopped for good."""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

# A child that lived this long was well: its next crash starts at the shortest back-off again.
STEADY_SECONDS = 20.0
LONGEST_BACK_OFF_SECONDS = 30.0


@dataclass
class Child:
    name: str
    command: list[str]
    say: Callable[[str, str], None]
    # What the child is told to stop; Valkey and Celery finish what they hold on SIGTERM.
    stop_signal: signal.Signals = signal.SIGTERM
    # Lines with these words say nothing that anyone could act on.
    noise: tuple[str, ...] = ()
    _process: asyncio.subprocess.Process | None = field(default=None, repr=False)
    _stopping: bool = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self._process.returncode is None else None

    async def keep_running(self) -> None:
        """Run the child; whenever it ends by itself, start it again, later each time."""
        back_off = 0.5
        while not self._stopping:
            started = time.monotonic()
            try:
                how = _how_it_ended(await self._run_once())
            except OSError as error:  # such as no memory for another process
                how = f"cannot be started ({error.strerror})"
            if self._stopping:
                return
            if time.monotonic() - started > STEADY_SECONDS:
                back_off = 0.5
            self.say("mayfly", f"{self.name} {how}; starting it again in {back_off:g} s")
            await asyncio.sleep(back_off)
            back_off = min(2 * back_off, LONGEST_BACK_OFF_SECONDS)

    def end(self) -> None:
        """End this run of the child at once; it is then started again."""
        if self.pid:
            _signal_group(self.pid, signal.SIGKILL)

    async def stop(self, *, within: float) -> None:
        """Ask, wait, then kill the child's whole process group."""
        self._stopping = True
        process = self._process
        if process is None:
            return
        _signal_group(process.pid, self.stop_signal)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), within)
        _signal_group(process.pid, signal.SIGKILL)
        await process.wait()

    async def _run_once(self) -> int:
        self._process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            # Its own group: Ctrl-C reaches the supervisor only, which stops the rest in order.
            start_new_session=True,
            preexec_fn=partial(_die_with_parent, self.stop_signal, os.getpid()),
            limit=1 << 20,
        )
        assert self._process.stdout is not None  # noqa: S101 - we asked for a pipe
        async for line in _lines(self._process.stdout):
            if line and not any(words in line for words in self.noise):
                self.say(self.name, line)
        code = await self._process.wait()
        _signal_group(self._process.pid, signal.SIGKILL)  # whatever the child left behind
        return code


async def _lines(stream: asyncio.StreamReader):  # type: ignore[no-untyped-def]
    while True:
        try:
            raw = await stream.readline()
        except ValueError:  # a line longer than the buffer: show that something was there
            yield "(a very long line)"
            continue
        if not raw:
            return
        yield raw.decode(errors="replace").rstrip()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _die_with_parent(number: signal.Signals, parent: int) -> None:
    """On Linux the kernel stops the children of a supervisor that was killed.

    It signals them once for each thread that the supervisor had; not if it was killed before they
    asked for it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, number)
        if os.getppid() != parent:
            os._exit(1)


def _how_it_ended(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
