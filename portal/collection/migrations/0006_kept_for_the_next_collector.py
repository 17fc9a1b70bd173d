"""A hand-over may name a collector that died: it stands for the next one of its window."""

from django.db import migrations

from portal.triggers import dropped, refuse

SESSION, HOLD, HAND_OVER = "collection_session", "collection_hold", "collection_handover"
HOLDS = (
    f"EXISTS (SELECT 1 FROM {SESSION} s JOIN {HOLD} h ON h.session_id = s.id "
    "WHERE s.id = NEW.successor_id AND s.state = 'open' AND h.window_id = NEW.window_id)"
)
COLLECTS = (
    f"EXISTS (SELECT 1 FROM {SESSION} c WHERE c.id = NEW.successor_id "
    "AND c.collects_id = NEW.window_id AND c.state IN ('open', 'dead'))"
)


class Migration(migrations.Migration):
    dependencies = [("collection", "0005_kept_for_collectors")]

    operations = [
        dropped("a_hand_over_goes_to_an_open_session_that_holds_or_collects", table=HAND_OVER),
        refuse(
            "a_hand_over_goes_to_an_open_session_that_holds_or_to_a_collector",
            table=HAND_OVER,
            event="INSERT",
            lock=f"{SESSION} WHERE id = NEW.successor_id",
            when=f"NOT {HOLDS} AND NOT {COLLECTS}",
        ),
    ]
