"""The rules of releases that hold for every writer."""

from django.db import migrations

from portal.triggers import append_only, refuse

RELEASE, RENDERING = "releases_release", "releases_rendering"
WINDOW, TASK, CHARGE = "tasks_taskwindow", "tasks_task", "ledger_charge"


def charged(state: str) -> str:
    """The window of the row NEW has a charge in this state."""
    return (
        f"EXISTS (SELECT 1 FROM {CHARGE} c JOIN {TASK} t ON t.name = c.task "
        f'WHERE t.id = NEW.task_id AND c."window" = NEW."window" AND c.state = \'{state}\')'
    )


class Migration(migrations.Migration):
    dependencies = [
        ("releases", "0001_initial"),
        ("tasks", "0003_populations"),
        ("ledger", "0002_rules"),
    ]

    operations = [
        append_only(RELEASE, unique=("id", "window_id")),
        append_only(RENDERING, unique=("id", "release_id")),
        refuse(
            "a_release_is_of_a_window_that_is_releasing",
            table=RELEASE,
            event="INSERT",
            lock=f"{WINDOW} WHERE id = NEW.window_id",
            when=f"NOT EXISTS (SELECT 1 FROM {WINDOW} w WHERE w.id = NEW.window_id "
            "AND w.state = 'releasing')",
        ),
        refuse(
            "a_window_is_released_with_its_release_and_its_cost_is_spent",
            table=WINDOW,
            event="UPDATE",
            when="NEW.state = 'released' AND OLD.state <> 'released' AND NOT ("
            f"EXISTS (SELECT 1 FROM {RELEASE} r WHERE r.window_id = NEW.id) "
            f"AND {charged('spent')} AND NOT {charged('reserved')})",
        ),
    ]
