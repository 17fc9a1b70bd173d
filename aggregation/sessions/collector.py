"""The collector: the sum of one closing window, in the memory of the process that releases it.

It takes over what the window's last sessions still held, whatever its size, and adds what is
stored in partials. Its sum has no threshold and cannot be serialised by accident of size alone:
it is for the noise that is added to it in the same memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.errors import Problem
from aggregation.protocol.server_config import ServerConfig
from aggregation.sessions.held import Held
from aggregation.sessions.receipts import PackedReceipts
from aggregation.sessions.withheld import Withheld


@dataclass(frozen=True, repr=False)
class Collected(Withheld):
    """One window's sum before noise, and receipts of what was handed over and is stored nowhere."""

    core: GroupBySum
    receipts: PackedReceipts


class Collector(Withheld):
    """Takes over one window, under a session id of its own."""

    def __init__(self, *, id: str, config: ServerConfig) -> None:
        self.id = id
        self._held: Held | None = Held(Params.of(config).without_threshold())

    def take_over(self, state: bytes, *, from_session: str) -> None:
        """Add a state that a session handed over; one that comes twice is refused."""
        if from_session == self.id:
            raise Problem("A collector cannot hand over to itself.")
        self._open().take_over(state, refused_origin=self.id)

    def finish(self, partials: GroupBySum) -> Collected:
        """The whole window: what was taken over and the folded partials. Consumes both."""
        core, receipts = self._open().release()
        self._held = None
        core.merge(partials)
        return Collected(core, receipts)

    def _open(self) -> Held:
        if self._held is None:
            raise Problem("This collector has finished.")
        return self._held
