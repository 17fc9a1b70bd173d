"""What is held of one window: a sum, and the receipts of exactly the updates in it.

The two never part. A sum without a receipt for one of its updates would let that device send
again and be counted twice; a receipt without its update would lose the device's data for good.
So their numbers are compared before anything leaves, and nothing does if they differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.core.interface import Verdict
from aggregation.errors import Problem
from aggregation.protocol.part import Parts
from aggregation.sessions.receipts import Receipts
from aggregation.sessions.withheld import Withheld

_FORMAT = 1


class Held(Withheld):
    """One window's sum with its receipts, in memory."""

    def __init__(self, params: Params) -> None:
        self._core = GroupBySum(params)
        self._receipts = Receipts()

    @property
    def contributions(self) -> int:
        return self._core.contributions

    def can_report(self) -> bool:
        return self._core.can_report()

    def is_consistent(self) -> bool:
        """Whether there is one receipt per update in the sum."""
        return self._core.contributions == len(self._receipts)

    def accumulate(
        self, parts: Parts, *, among: NDArray[np.bool_], origin: str, ids: Sequence[bytes]
    ) -> NDArray[np.bool_]:
        """Add the marked parts, sent to the session `origin` under these ids; say which counted."""
        counted = self._core.accumulate_batch(parts, among=among) == Verdict.ACCEPTED
        self._receipts.add(origin, [ids[number] for number in np.flatnonzero(counted).tolist()])
        return np.asarray(counted)

    def take_over(self, state: bytes, *, refused_origin: str) -> None:
        """Add a state that `hand_over` gave; nothing changes if it is refused.

        An update that is here already, or one sent to the session that is taking over and so to
        be deduplicated by that session itself, is never added by way of another session.
        """
        core, receipts = parse_state(state, self._core.params)
        if receipts.has_origin(refused_origin) or self._receipts.clashes_with(receipts):
            raise Problem("A state that was handed over holds updates that are counted here.")
        self._core.merge(core)
        self._receipts.take_in(receipts)

    def flush(self) -> tuple[bytes, dict[str, bytes]]:
        """The state for an envelope, and the receipts to store with it. Consumes the sum."""
        return self._core.serialise(), self._receipts.packed()

    def hand_over(self) -> tuple[bytes, dict[str, bytes]]:
        """The state with its receipts, for the memory of a successor; and the receipts again."""
        packed = self._receipts.packed()
        document = _State(version=_FORMAT, core=self._core.serialise(small=True), receipts=packed)
        return msgspec.msgpack.encode(document), packed

    def release(self) -> tuple[GroupBySum, dict[str, bytes]]:
        """The sum itself, for the process that adds noise to it, and the receipts."""
        return self._core, self._receipts.packed()


class _State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    core: bytes
    receipts: dict[str, bytes]

    def __repr__(self) -> str:
        return "_State(contents withheld)"


def parse_state(raw: bytes, params: Params) -> tuple[GroupBySum, Receipts]:
    """The sum and the receipts of a state that was handed over."""
    try:
        document = msgspec.msgpack.decode(raw, type=_State)
        core = GroupBySum.parse(document.core, params)
        receipts = Receipts.parse(document.receipts)
    except (ValueError, Problem):
        raise Problem("These bytes are not a state handed over by a session.") from None
    if document.version != _FORMAT or core.contributions != len(receipts):
        raise Problem("A state was handed over whose sum and receipts do not belong together.")
    return core, receipts
