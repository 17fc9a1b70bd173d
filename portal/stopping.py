"""Whether this front end is stopping. Answers without an end watch it, and end.

A server that is told to stop waits for answers under way, and tells nobody but them how long: a
stream that goes on would hold it up and be cut off. So the signal that stops the server is noted
here before the server sees it.
"""

import signal
import threading
from types import FrameType

_stopping = threading.Event()


def is_stopping() -> bool:
    return _stopping.is_set()


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
        _stopping.set()
        passed_on(received, frame)

    signal.signal(number, note)
