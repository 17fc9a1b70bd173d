"""What leaves a session when it is complete: once, and each window's sum by one of two ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aggregation.protocol.refusal import Reason
from aggregation.protocol.windows import Window
from aggregation.sessions.receipts import PackedReceipts
from aggregation.sessions.withheld import Withheld


@dataclass(frozen=True, repr=False)
class Big(Withheld):
    """A sum of enough devices to be stored, encrypted, as a partial."""

    window: Window
    # For `seal_partial`.
    state: bytes
    # To be stored in the same transaction.
    receipts: PackedReceipts


@dataclass(frozen=True, repr=False)
class Small(Withheld):
    """A sum of few devices: it goes to a successor's memory, sealed, and never to storage."""

    window: Window
    # For `seal_state`; the receipts are in it, and are stored by whoever stores the sum.
    state: bytes
    receipts: PackedReceipts


@dataclass(frozen=True, repr=False)
class Completion(Withheld):
    """Everything of one session, in the order of its windows."""

    big: tuple[Big, ...]
    small: tuple[Small, ...]
    accepted: int
    counts: Mapping[Reason, int]
