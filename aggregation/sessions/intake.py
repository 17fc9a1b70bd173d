"""The way in: sealed bytes of strangers become checked parts, or a count by reason.

Whatever the bytes are, nothing is raised and nothing of them is told: an answer, a log line or an
exception that depended on what was inside would tell about one device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregation.core.checks import Params, check_batch
from aggregation.core.interface import Verdict, Verdicts
from aggregation.protocol.ids import UPDATE_BYTES
from aggregation.protocol.part import Integers, Parts
from aggregation.protocol.refusal import Reason
from aggregation.protocol.sealing import Helper, SessionKeys
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.update import Batch, Shape, unpack_batch
from aggregation.protocol.windows import Window
from aggregation.sessions.withheld import Withheld

# An update's id, and its sealed bytes.
Sealed = tuple[str, bytes]

_REASONS: dict[int, Reason] = {v: Reason(v.name.lower()) for v in Verdict if v != Verdict.ACCEPTED}


@dataclass(frozen=True, eq=False, repr=False)
class Checked(Withheld):
    """Updates that were opened and unpacked, and which of them are good in all their parts."""

    # The raw id of each.
    ids: list[bytes]
    # Of those with parts; what was refused in unpacking has none.
    good: NDArray[np.bool_]
    _batch: Batch

    def by_window(self) -> Iterator[tuple[Window, Parts, Integers]]:
        """Each window with its parts and the number of the update that each part belongs to."""
        for window, parts in self._batch.parts.items():
            yield window, parts, self._batch.updates[window]


class Intake(Withheld):
    """What one session opens with: its key, its task, and the ids that are spent."""

    def __init__(
        self, *, session: str, config: ServerConfig, keys: SessionKeys, helper: Helper | None = None
    ) -> None:
        self._shape = Shape.of(config)
        self._params = Params.of(config)
        self._open_all = keys.opener(client_task=config.client_task, session=session, helper=helper)
        # Raw ids: in hex, one id would have several spellings.
        self._spent: set[bytes] = set()

    @property
    def spent(self) -> int:
        """Under how many ids an update was opened."""
        return len(self._spent)

    def checked(
        self, batch: Sequence[Sealed], *, ever_open: Collection[Window], counts: Counter[Reason]
    ) -> Checked:
        """Open, unpack and check updates; add those that are refused to the counts."""
        opened = self._opened(batch, counts)
        unpacked = unpack_batch([plain for _, plain in opened], self._shape, ever_open=ever_open)
        counts.update(unpacked.refused.values())
        verdicts = self._verdicts(unpacked, len(opened))
        for verdict, times in enumerate(np.bincount(verdicts).tolist()):
            if verdict != Verdict.ACCEPTED and times:
                counts[_REASONS[verdict]] += times
        good = np.asarray(verdicts == Verdict.ACCEPTED)
        return Checked([raw for raw, _ in opened], good, unpacked)

    def _opened(
        self, batch: Sequence[Sealed], counts: Counter[Reason]
    ) -> list[tuple[bytes, bytes]]:
        """Raw id and plain bytes of those that open; the first to open under an id spends it."""
        raws = _raw_ids([update for update, _ in batch])
        named = [(raw, one[1]) for raw, one in zip(raws, batch, strict=True) if raw is not None]
        counts[Reason.CANNOT_OPEN] += len(batch) - len(named)
        fresh = [one for one in named if one[0] not in self._spent]
        counts[Reason.DUPLICATE] += len(named) - len(fresh)
        found: list[tuple[bytes, bytes]] = []
        for (raw, _), plain in zip(fresh, self._open_all(fresh), strict=True):
            # Again: an id may come twice in one batch.
            if raw in self._spent:
                counts[Reason.DUPLICATE] += 1
            elif plain is None:
                counts[Reason.CANNOT_OPEN] += 1
            else:
                self._spent.add(raw)
                found.append((raw, plain))
        return found

    def _verdicts(self, batch: Batch, count: int) -> Verdicts:
        """The first verdict on each update that is not `ACCEPTED`, in the order of its windows."""
        first: Verdicts = np.zeros(count, dtype=np.uint8)
        for window in sorted(batch.parts):
            numbers = batch.updates[window]
            found = check_batch(batch.parts[window], self._params)
            first[numbers] = np.where(first[numbers] == Verdict.ACCEPTED, found, first[numbers])
        return first


def _raw_ids(updates: list[str]) -> list[bytes | None]:
    """The bytes of each id, or nothing for what is none; all at once where all are in order."""
    joined, size = "".join(updates), UPDATE_BYTES
    together = _raw_id(joined, size * len(updates))
    if together is None or set(map(len, updates)) != {2 * size}:
        return [_raw_id(update, size) for update in updates]
    return [together[at : at + size] for at in range(0, len(together), size)]


def _raw_id(update: str, size: int) -> bytes | None:
    """The bytes of an update's id in its one spelling: small letters, and nothing between them."""
    try:
        raw = bytes.fromhex(update)
    except ValueError:
        return None
    return raw if len(raw) == size and raw.hex() == update else None
