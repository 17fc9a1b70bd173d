"""The rules of the ledger that hold for every writer."""

from django.db import migrations

from portal.triggers import afterwards, changes, never_emptied, refuse

WEEK, CHARGE = "ledger_week", "ledger_charge"


def total(state: str, week: str) -> str:
    return (
        f"(SELECT COALESCE(SUM(c.amount), 0) FROM {CHARGE} c "
        f"WHERE c.week_id = {week} AND c.state = '{state}')"
    )


SUMS = (
    f"UPDATE {WEEK} SET reserved = {total('reserved', 'NEW.week_id')}, "
    f"spent = {total('spent', 'NEW.week_id')} WHERE id = NEW.week_id"
)
THIS_WEEK = f"{WEEK} WHERE id = NEW.week_id"


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial")]

    operations = [
        refuse(
            "a_charge_begins_as_reserved",
            table=CHARGE,
            event="INSERT",
            when="NEW.state <> 'reserved'",
        ),
        refuse(
            "a_charge_is_never_replaced",
            table=CHARGE,
            event="INSERT",
            when=f"EXISTS (SELECT 1 FROM {CHARGE} c WHERE c.id = NEW.id)",
        ),
        refuse(
            "a_charge_never_changes_its_amount_or_place",
            table=CHARGE,
            event="UPDATE",
            when=changes("id", "week_id", "task", "window", "amount"),
        ),
        refuse(
            "a_spent_or_freed_charge_stays_so",
            table=CHARGE,
            event="UPDATE",
            when="OLD.state <> 'reserved' AND NEW.state <> OLD.state",
        ),
        refuse("a_charge_is_never_removed", table=CHARGE, event="DELETE"),
        never_emptied(CHARGE),
        afterwards(
            "ledger_sums_after_insert", table=CHARGE, event="INSERT", lock=THIS_WEEK, statement=SUMS
        ),
        afterwards(
            "ledger_sums_after_update", table=CHARGE, event="UPDATE", lock=THIS_WEEK, statement=SUMS
        ),
        refuse(
            "a_week_begins_empty",
            table=WEEK,
            event="INSERT",
            when="NEW.reserved <> 0 OR NEW.spent <> 0 "
            f"OR EXISTS (SELECT 1 FROM {WEEK} w WHERE w.id = NEW.id)",
        ),
        refuse(
            "a_week_keeps_its_place",
            table=WEEK,
            event="UPDATE",
            when=changes("id", "stream", "monday"),
        ),
        refuse(
            "a_week_holds_the_sums_of_its_charges",
            table=WEEK,
            event="UPDATE",
            when=f"NEW.reserved <> {total('reserved', 'NEW.id')} "
            f"OR NEW.spent <> {total('spent', 'NEW.id')}",
        ),
        refuse("a_week_is_never_removed", table=WEEK, event="DELETE"),
        never_emptied(WEEK),
    ]
