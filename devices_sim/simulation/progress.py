"""Progress of a simulation, for whoever watches: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from typing import Final, TextIO

_BAR: Final = 30
_BAR_SECONDS, _LINE_SECONDS = 0.5, 15.0


class Progress:
    """On the error output: the other one is for the report."""

    def __init__(self, *, start: datetime, end: datetime, out: TextIO | None = None) -> None:
        self._start, self._end, self._out = start, end, out or sys.stderr
        self._is_bar = self._out.isatty()
        self._began = time.monotonic()
        self._told = 0.0

    def say(self, sentence: str) -> None:
        self._clear()
        self._out.write(f"{time.monotonic() - self._began:6.1f} s  {sentence}\n")
        self._out.flush()

    def at(self, moment: datetime, *, wake_ups: int, sent: int) -> None:
        now = time.monotonic()
        if now < self._told + (_BAR_SECONDS if self._is_bar else _LINE_SECONDS):
            return
        self._told = now
        share = (moment - self._start) / (self._end - self._start)
        words = f"{moment:%Y-%m-%d %H:%M} UTC, {wake_ups:,} wake-ups, {sent:,} updates sent"
        if not self._is_bar:
            self.say(f"{share:4.0%}  {words}")
            return
        filled = round(share * _BAR)
        self._out.write(f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {share:4.0%}  {words}\x1b[K")
        self._out.flush()

    def _clear(self) -> None:
        if self._is_bar:
            self._out.write("\r\x1b[K")
