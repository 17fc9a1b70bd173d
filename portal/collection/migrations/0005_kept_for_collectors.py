"""A hand-over goes on from a collector that died to the next one of its window, never elsewhere."""

from django.db import migrations

from portal.triggers import changes, dropped, refuse

SESSION, HAND_OVER = "collection_session", "collection_handover"
RULE = "a_hand_over_is_only_ever_received"


def collector(column: str, state: str) -> str:
    return (
        f"EXISTS (SELECT 1 FROM {SESSION} c WHERE c.id = {column} "
        f"AND c.collects_id = OLD.window_id AND c.state = '{state}')"
    )


class Migration(migrations.Migration):
    dependencies = [("collection", "0004_handed_over_ids")]

    operations = [
        dropped(RULE, table=HAND_OVER),
        refuse(
            RULE,
            table=HAND_OVER,
            event="UPDATE",
            when=f"{changes('id', 'session_id', 'window_id')} OR (OLD.received AND NOT NEW.received "
            "AND OLD.successor_id = NEW.successor_id)",
        ),
        refuse(
            "a_hand_over_goes_on_from_a_dead_collector_to_an_open_one",
            table=HAND_OVER,
            event="UPDATE",
            lock=f"{SESSION} WHERE id = NEW.successor_id AND OLD.successor_id <> NEW.successor_id",
            when="OLD.successor_id <> NEW.successor_id AND (NEW.received "
            f"OR NOT {collector('OLD.successor_id', 'dead')} "
            f"OR NOT {collector('NEW.successor_id', 'open')})",
        ),
    ]
