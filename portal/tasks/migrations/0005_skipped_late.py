"""A window may be skipped late, too: after a backup was put back. Its cost is spent before."""

from django.db import migrations

from portal.triggers import dropped, refuse

TASK, WINDOW, CHARGE = "tasks_task", "tasks_taskwindow", "ledger_charge"
RULE = "a_window_goes_from_state_to_state_in_order"
RESERVED = (
    f"EXISTS (SELECT 1 FROM {CHARGE} c JOIN {TASK} t ON t.name = c.task "
    'WHERE t.id = NEW.task_id AND c."window" = NEW."window" AND c.state = \'reserved\')'
)


class Migration(migrations.Migration):
    dependencies = [("tasks", "0004_provenance"), ("ledger", "0002_rules")]

    operations = [
        dropped(RULE, table=WINDOW),
        refuse(
            RULE,
            table=WINDOW,
            event="UPDATE",
            when="OLD.state <> NEW.state AND NOT ("
            "(OLD.state = 'upcoming' AND NEW.state IN ('collecting', 'skipped')) OR "
            "(OLD.state = 'collecting' AND NEW.state IN ('grace', 'skipped')) OR "
            "(OLD.state = 'grace' AND NEW.state IN ('releasing', 'skipped')) OR "
            "(OLD.state = 'releasing' AND NEW.state IN ('released', 'skipped')))",
        ),
        refuse(
            "a_window_is_skipped_late_only_once_it_is_spent",
            table=WINDOW,
            event="UPDATE",
            when="OLD.state IN ('grace', 'releasing') AND NEW.state = 'skipped' "
            f"AND {RESERVED}",
        ),
    ]
