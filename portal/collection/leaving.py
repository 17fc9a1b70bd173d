"""What a session is about to leave, made ready outside any transaction.

Completing consumes the session's memory, so this is kept over all attempts to store it. It is
made only after the row says `completing`: from then on no key of this day is erased before the
session is over.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from uuid import uuid4

from aggregation.clock import Clock
from aggregation.partials.envelope import Label, seal_partial
from aggregation.partials.keys import KeyName
from aggregation.protocol.refusal import Reason
from aggregation.protocol.windows import Window
from aggregation.sessions.completion import Big, Small
from aggregation.sessions.receipts import PackedReceipts
from aggregation.sessions.session import Session as Summing
from portal.collection.coarse import coarse
from portal.collection.keys import partial_keys
from portal.collection.models import Session

# From the first moment of the UTC day of its key: all partials of a key expire together.
LEVEL_1_LASTS = timedelta(days=3)
# From the end of the grace: sums of higher levels, and what waits in memory for a release, so that
# a sum lives as long whether it was stored or not.
HIGHER_LASTS = timedelta(days=7)
TABLE = "collection_partial"


@dataclass(frozen=True, repr=False)
class Sealed:
    """A big window's sum in its envelope, with the receipts that are stored beside it."""

    id: str
    window: Window
    key_day: date
    envelope: bytes
    receipts: PackedReceipts

    @property
    def expires_at(self) -> datetime:
        return expiry_of(self.key_day)


def expiry_of(key_day: date) -> datetime:
    return datetime.combine(key_day, time(), UTC) + LEVEL_1_LASTS


@dataclass(frozen=True, repr=False)
class Leaving:
    sealed: tuple[Sealed, ...]
    small: tuple[Small, ...]
    # Coarse, in words.
    counts: dict[str, str]
    # Exact, for the day's own count.
    refused: Mapping[Reason, int]

    def __repr__(self) -> str:
        return "Leaving(contents withheld)"


def make_ready(
    *,
    session: Session,
    summing: Summing,
    open_windows: Collection[Window],
    handing_over: Collection[Window],
    clock: Clock,
) -> Leaving:
    """Complete a session's memory and seal what is to be stored. Consumes it."""
    completion = summing.complete(open_windows=open_windows, handing_over=handing_over)
    today = clock.now().astimezone(UTC).date()
    return Leaving(
        sealed=tuple(_sealed(session, big, today) for big in completion.big),
        small=completion.small,
        counts={
            "accepted": coarse(completion.accepted),
            **{str(reason): coarse(completion.counts.get(reason, 0)) for reason in Reason},
        },
        refused=completion.counts,
    )


def make_keys(*, session: Session, windows: Collection[Window], clock: Clock) -> None:
    """Have today's keys for these windows. Raises OSError if the key folder is full or away."""
    keys, today = partial_keys(), clock.now().astimezone(UTC).date()
    for window in windows:
        keys.for_sealing(KeyName(session.revision.task.name, window.id, 1, today))


def _sealed(session: Session, big: Big, today: date) -> Sealed:
    label = Label(
        table=TABLE,
        partial=uuid4().hex,
        task=session.revision.task.name,
        window=big.window,
        level=1,
        session=session.pk,
    )
    key = partial_keys().for_sealing(label.key_name(today))
    envelope = seal_partial(big.state, label=label, key=key)
    return Sealed(label.partial, big.window, today, envelope, big.receipts)
