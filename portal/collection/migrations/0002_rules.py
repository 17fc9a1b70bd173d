"""The rules of sessions, partials and receipts that hold for every writer.

Each rule that looks at another row locks it first, so that two writers who each found the other
rows as they should be cannot both commit: a window that closes while a session flushes waits for
the flush, or the flush finds it closed.
"""

from django.db import migrations

from portal.triggers import changes, never_emptied, refuse

SESSION, HOLD, HAND_OVER = "collection_session", "collection_hold", "collection_handover"
PARTIAL, RECEIPTS = "collection_partial", "collection_receipts"
WINDOW, REVISION = "tasks_taskwindow", "tasks_revision"

THE_WINDOW = f"{WINDOW} WHERE id = NEW.window_id"
IN_GRACE = f"EXISTS (SELECT 1 FROM {WINDOW} w WHERE w.id = NEW.window_id AND w.state = 'grace')"
COLLECTED = f"EXISTS (SELECT 1 FROM {SESSION} c WHERE c.collects_id = NEW.window_id)"


def session_is(column: str, *states: str) -> str:
    among = ", ".join(f"'{state}'" for state in states)
    return f"EXISTS (SELECT 1 FROM {SESSION} s WHERE s.id = NEW.{column} AND s.state IN ({among}))"


def holds(column: str) -> str:
    return (
        f"EXISTS (SELECT 1 FROM {HOLD} h WHERE h.session_id = NEW.{column} "
        "AND h.window_id = NEW.window_id)"
    )


session_rules = [
    refuse(
        "a_session_begins_as_opening", table=SESSION, event="INSERT", when="NEW.state <> 'opening'"
    ),
    refuse(
        "a_session_is_never_replaced",
        table=SESSION,
        event="INSERT",
        when=f"EXISTS (SELECT 1 FROM {SESSION} s WHERE s.id = NEW.id)",
    ),
    refuse(
        "a_session_is_of_an_approved_revision",
        table=SESSION,
        event="INSERT",
        when=f"NOT EXISTS (SELECT 1 FROM {REVISION} r WHERE r.id = NEW.revision_id "
        "AND r.state = 'approved')",
    ),
    refuse(
        "a_collector_is_of_a_window_that_closes",
        table=SESSION,
        event="INSERT",
        lock=f"{WINDOW} WHERE id = NEW.collects_id",
        when=f"NEW.collects_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {WINDOW} w "
        "WHERE w.id = NEW.collects_id AND w.revision_id = NEW.revision_id "
        "AND w.state IN ('grace', 'releasing'))",
    ),
    refuse(
        "a_session_keeps_what_it_is_for",
        table=SESSION,
        event="UPDATE",
        when=changes("id", "revision_id", "collects_id", "requested_at"),
    ),
    refuse(
        "a_session_has_one_key",
        table=SESSION,
        event="UPDATE",
        when=f"OLD.state <> 'opening' AND ({changes('public_key', 'signature', 'opened_at')})",
    ),
    refuse(
        "a_session_goes_from_state_to_state_in_order",
        table=SESSION,
        event="UPDATE",
        when="OLD.state <> NEW.state AND NOT ("
        "(OLD.state = 'opening' AND NEW.state IN ('open', 'dead')) OR "
        "(OLD.state = 'open' AND NEW.state IN ('completing', 'dead')) OR "
        "(OLD.state = 'completing' AND NEW.state IN ('flushed', 'dead')))",
    ),
    refuse(
        "a_session_that_is_over_never_changes",
        table=SESSION,
        event="UPDATE",
        when="OLD.state IN ('flushed', 'dead') AND ("
        + changes("state", "worker", "reason", "ended_at", "counts")
        + ")",
    ),
    refuse("a_session_is_never_removed", table=SESSION, event="DELETE"),
    never_emptied(SESSION),
]

hold_rules = [
    refuse(
        "a_hold_is_on_an_open_window",
        table=HOLD,
        event="INSERT",
        lock=THE_WINDOW,
        when=f"NOT {IN_GRACE} OR {COLLECTED}",
    ),
    refuse(
        "a_hold_is_of_a_session_of_the_same_revision",
        table=HOLD,
        event="INSERT",
        lock=f"{SESSION} WHERE id = NEW.session_id",
        when=f"NOT EXISTS (SELECT 1 FROM {SESSION} s JOIN {WINDOW} w "
        "ON w.revision_id = s.revision_id WHERE s.id = NEW.session_id AND w.id = NEW.window_id "
        "AND s.collects_id IS NULL AND s.state IN ('opening', 'open'))",
    ),
    refuse("a_hold_never_changes", table=HOLD, event="UPDATE"),
    refuse(
        "a_hold_is_given_up_by_an_open_session",
        table=HOLD,
        event="DELETE",
        when=f"NOT EXISTS (SELECT 1 FROM {SESSION} s WHERE s.id = OLD.session_id "
        "AND s.state = 'open')",
    ),
    never_emptied(HOLD),
]

hand_over_rules = [
    refuse(
        "a_hand_over_comes_from_a_session_that_completes_and_holds",
        table=HAND_OVER,
        event="INSERT",
        lock=f"{SESSION} WHERE id = NEW.session_id",
        when=f"NEW.received OR NOT ({session_is('session_id', 'completing')} "
        f"AND {holds('session_id')})",
    ),
    refuse(
        "a_hand_over_goes_to_an_open_session_that_holds_or_collects",
        table=HAND_OVER,
        event="INSERT",
        lock=f"{SESSION} WHERE id = NEW.successor_id",
        when=f"NOT {session_is('successor_id', 'open')} OR NOT ({holds('successor_id')} OR EXISTS "
        f"(SELECT 1 FROM {SESSION} c WHERE c.id = NEW.successor_id "
        "AND c.collects_id = NEW.window_id))",
    ),
    refuse(
        "a_hand_over_is_of_a_window_in_grace",
        table=HAND_OVER,
        event="INSERT",
        lock=THE_WINDOW,
        when=f"NOT {IN_GRACE}",
    ),
    refuse(
        "a_hand_over_is_only_ever_received",
        table=HAND_OVER,
        event="UPDATE",
        when=f"{changes('id', 'session_id', 'window_id', 'successor_id')} "
        "OR (OLD.received AND NOT NEW.received)",
    ),
    refuse("a_hand_over_is_never_removed", table=HAND_OVER, event="DELETE"),
    never_emptied(HAND_OVER),
]

partial_rules = [
    refuse(
        "a_partial_begins_as_stored", table=PARTIAL, event="INSERT", when="NEW.state <> 'stored'"
    ),
    refuse(
        "a_partial_is_never_replaced",
        table=PARTIAL,
        event="INSERT",
        when=f"EXISTS (SELECT 1 FROM {PARTIAL} p WHERE p.id = NEW.id "
        "OR (p.session_id = NEW.session_id AND p.window_id = NEW.window_id))",
    ),
    refuse(
        "a_partial_is_for_a_window_in_grace",
        table=PARTIAL,
        event="INSERT",
        lock=THE_WINDOW,
        when=f"NOT {IN_GRACE}",
    ),
    refuse(
        "a_partial_comes_from_a_session_that_completes_and_holds",
        table=PARTIAL,
        event="INSERT",
        lock=f"{SESSION} WHERE id = NEW.session_id",
        when=f"NEW.session_id IS NOT NULL AND NOT ({session_is('session_id', 'completing')} "
        f"AND {holds('session_id')})",
    ),
    refuse(
        "a_partial_never_changes_what_it_is",
        table=PARTIAL,
        event="UPDATE",
        when=changes("id", "window_id", "level", "session_id", "key_day", "created_at", "expires_at"),
    ),
    refuse(
        "a_partial_goes_from_state_to_state_in_order",
        table=PARTIAL,
        event="UPDATE",
        when="OLD.state <> NEW.state AND NOT ("
        "(OLD.state = 'stored' AND NEW.state IN ('merged', 'expired')) OR "
        "(OLD.state = 'merged' AND NEW.state = 'erased'))",
    ),
    refuse(
        "a_body_stays_as_it_is_until_it_is_emptied_for_good",
        table=PARTIAL,
        event="UPDATE",
        when="(NEW.state IN ('erased', 'expired') AND length(NEW.body) > 0) OR "
        f"(NEW.state IN ('stored', 'merged') AND ({changes('body')}))",
    ),
    refuse("a_partial_is_never_removed", table=PARTIAL, event="DELETE"),
    never_emptied(PARTIAL),
]

receipt_rules = [
    refuse(
        "receipts_are_for_a_window_in_grace",
        table=RECEIPTS,
        event="INSERT",
        lock=THE_WINDOW,
        when=f"NOT {IN_GRACE}",
    ),
    refuse(
        "receipts_come_with_the_partial_of_a_session_that_completes",
        table=RECEIPTS,
        event="INSERT",
        lock=f"{SESSION} WHERE id = NEW.flushed_by_id",
        when=f"NOT ({session_is('flushed_by_id', 'completing')} AND EXISTS (SELECT 1 "
        f"FROM {PARTIAL} p WHERE p.session_id = NEW.flushed_by_id "
        "AND p.window_id = NEW.window_id))",
    ),
    refuse(
        "receipts_are_never_replaced",
        table=RECEIPTS,
        event="INSERT",
        when=f"EXISTS (SELECT 1 FROM {RECEIPTS} r WHERE r.id = NEW.id "
        "OR (r.session_id = NEW.session_id AND r.window_id = NEW.window_id))",
    ),
    refuse(
        "receipts_are_whole_ids",
        table=RECEIPTS,
        event="INSERT",
        when="length(NEW.ids) = 0 OR (length(NEW.ids) & 7) <> 0",
    ),
    refuse("receipts_never_change", table=RECEIPTS, event="UPDATE"),
    refuse(
        "receipts_are_kept_until_the_window_is_over",
        table=RECEIPTS,
        event="DELETE",
        when=f"NOT EXISTS (SELECT 1 FROM {WINDOW} w WHERE w.id = OLD.window_id "
        "AND w.state IN ('released', 'skipped'))",
    ),
    never_emptied(RECEIPTS),
]


class Migration(migrations.Migration):
    dependencies = [("collection", "0001_initial"), ("tasks", "0003_populations")]

    operations = [
        *session_rules,
        *hold_rules,
        *hand_over_rules,
        *partial_rules,
        *receipt_rules,
    ]
