"""A week of which nobody knows what it has cost stays closed, whatever was left of it."""

from django.db import migrations, models

from portal.triggers import changes, refuse

WEEK, CHARGE = "ledger_week", "ledger_charge"


class Migration(migrations.Migration):
    dependencies = [("ledger", "0002_rules")]

    operations = [
        # May be empty, so that SQLite adds it in place: a table made anew loses its rules.
        migrations.AddField(
            model_name="week", name="closed_at", field=models.DateTimeField(null=True)
        ),
        migrations.RunSQL(
            f"UPDATE {WEEK} SET closed_at = CURRENT_TIMESTAMP "
            f"WHERE id IN (SELECT week_id FROM {CHARGE} WHERE task = '(forgotten)')",
            migrations.RunSQL.noop,
        ),
        refuse(
            "a_closed_week_stays_closed",
            table=WEEK,
            event="UPDATE",
            when="OLD.closed_at IS NOT NULL "
            f"AND ({changes('closed_at')} OR NEW.cap > OLD.cap)",
        ),
    ]
