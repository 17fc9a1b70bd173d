"""Which updates are counted, exactly: for simulations, whose phones are made up, and nobody else.

Receipts go once their window is released, and the ids of what was handed over with them. So they
are read as they come. An update is counted if its session, or one that took over from it, stored
a receipt for it; or if it went, from one to the next, to the collector that a release is made of.
"""

from dataclasses import dataclass, field

from django.db.models import Sum

from portal.collection.models import FleetCount, HandOver, Receipts, Session

_Key = tuple[str, int]


@dataclass
class Watched:
    """What has been seen so far, by the session that updates were sent to, and by window."""

    receipts: dict[_Key, bytes] = field(default_factory=dict)
    handed_over: dict[_Key, tuple[str, bytes]] = field(default_factory=dict)

    def look(self) -> None:
        """Often, so only receipts that are new are read: those of many phones are megabytes."""
        for receipts in Receipts.objects.filter(pk__in=self._new_receipts()):
            self.receipts[receipts.session_id, receipts.window_id] = bytes(receipts.ids)
        rows = HandOver.objects.exclude(ids=None)
        for session, window, to, held in rows.values_list("session", "window", "successor", "ids"):
            self.handed_over.setdefault((session, window), (to, bytes(held or b"")))

    def _new_receipts(self) -> list[int]:
        rows = Receipts.objects.values_list("pk", "session", "window")
        return [pk for pk, *key in rows if tuple(key) not in self.receipts]

    def counted(self) -> dict[int, list[bytes]]:
        """Window → the ids that are in its sum, each 8 bytes, as often as they are in it."""
        found: dict[int, list[bytes]] = {}
        for (_, window), ids in self.receipts.items():
            found.setdefault(window, []).append(ids)
        for (session, window), (_, ids) in self.handed_over.items():
            # Whatever has a receipt, too, is told twice: it is in the sum twice.
            if self._is_in_release(session, window):
                found.setdefault(window, []).append(ids)
        return found

    def _is_in_release(self, session: str, window: int) -> bool:
        while (session, window) in self.handed_over:
            session = self.handed_over[session, window][0]
        end = Session.objects.get(pk=session)
        return end.collects_id == window and end.state == Session.State.FLUSHED


def refusals() -> dict[str, int]:
    """Updates and calls that were refused, by why; exact, of all weeks."""
    rows = FleetCount.objects.filter(span=FleetCount.Span.WEEK)
    sums = rows.values_list("counter").annotate(sum=Sum("count"))
    return {
        name: count
        for name, count in sums
        if name.startswith(("refused.", "turned_away.")) or _is_refused_call(name)
    }


def _is_refused_call(name: str) -> bool:
    return name.startswith("call.") and not name.endswith(".ok")
