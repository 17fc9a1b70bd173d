"""Whether this front end is stopping. Answers without an end watch it, and end.

A server that is told to stop waits for answers under way, and tells nobody but them how long: a
stream that goes on would hold it up and be cut off. So the signal that stops the server is noted
here before the server sees it: without a lock, which a signal that comes while another one is noted
would wait for, for ever. The kernel tells a server as often as its supervisor, if killed, had
threads.
"""

import signal
import threading
from types import FrameType

_is_stopping = False


def is_stopping() -> bool:
    return _is_stopping


def watch_signals() -> None:
    """Note the signals that the server has handlers for, and pass them on to those."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            _note(number)


def _note(number: signal.Signals) -> None:
    passed_on = signal.getsignal(number)
    if not callable(passed_on):
        return

    def note(received: int, frame: FrameType | None) -> None:
        global _is_stopping  # noqa: PLW0603 - one for the process
        _is_stopping = True
        passed_on(received, frame)

    signal.signal(number, note)
