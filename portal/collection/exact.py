"""Which updates are counted, exactly: for simulations, whose phones are made up, and nobody else.

Receipts go once their window is released, and the ids of what was handed over with them. So the
database of a simulation copies them as they come. An update is counted if its session, or one that
took over from it, stored a receipt for it; or if it went, from one to the next, to the collector
that a release is made of.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import Sum

from portal.collection.models import FleetCount, Session

COPIES = "exact_counts_seen"
_Key = tuple[str, int]
# By table: to which session what is copied went on.
_SUCCESSORS = {"collection_receipts": "''", "collection_handover": "NEW.successor_id"}


def keep_copies() -> None:
    """From now on, until this database is thrown away."""
    binary = "bytea" if connection.vendor == "postgresql" else "blob"
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE {COPIES} (session text, window_id bigint, successor text, ids {binary})"
        )
        for table, successor in _SUCCESSORS.items():
            for statement in _copying(table, successor):
                cursor.execute(statement)


def _copying(table: str, successor: str) -> Iterator[str]:
    copy = f"INSERT INTO {COPIES} VALUES (NEW.session_id, NEW.window_id, {successor}, NEW.ids);"  # noqa: S608 - our own tables
    name = f"{COPIES}_{table}"
    if connection.vendor == "postgresql":
        yield (
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {copy} RETURN NULL; END $$"
        )
        yield (
            f"CREATE TRIGGER {name} AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
        )
    else:
        yield f"CREATE TRIGGER {name} AFTER INSERT ON {table} BEGIN {copy} END"


@dataclass
class Seen:
    """What was copied, by the session that updates were sent to, and by window."""

    receipts: dict[_Key, bytes] = field(default_factory=dict)
    handed_over: dict[_Key, tuple[str, bytes]] = field(default_factory=dict)

    @classmethod
    def so_far(cls) -> "Seen":
        seen = cls()
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT session, window_id, successor, ids FROM {COPIES}")  # noqa: S608 - our own table
            for session, window, successor, ids in cursor.fetchall():
                if successor:
                    seen.handed_over[session, window] = successor, bytes(ids)
                else:
                    seen.receipts[session, window] = bytes(ids)
        return seen

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
