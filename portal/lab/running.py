"""What a study under way asks of whoever runs it: to say how far it is, and whether to go on."""

from collections.abc import Callable
from dataclasses import dataclass


class Stopped(Exception):
    """Somebody asked for the study to stop."""


@dataclass(frozen=True)
class Ask:
    progress: Callable[[float], None] = lambda share: None
    cancelled: Callable[[], bool] = lambda: False

    def go_on(self) -> None:
        if self.cancelled():
            raise Stopped

    def watch(self, share: float) -> None:
        """Say how far it is, and go no further if somebody asked for that."""
        self.go_on()
        self.progress(share)

    def part(self, start: float, end: float) -> "Ask":
        """For one part of a study, which says its own share from 0 to 1."""
        return Ask(lambda share: self.progress(start + (end - start) * share), self.cancelled)
