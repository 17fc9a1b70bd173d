from django.db import migrations

from portal.triggers import changes, never_emptied, refuse

STUDY = "lab_study"
OVER = "OLD.state IN ('done', 'failed', 'cancelled')"


class Migration(migrations.Migration):

    dependencies = [("lab", "0001_initial")]

    operations = [
        refuse(
            "what_a_study_was_asked_never_changes",
            table=STUDY,
            event="UPDATE",
            when=changes("id", "kind", "parameters", "is_loaded", "asked_by_id", "asked_at"),
        ),
        refuse("a_study_that_is_over_never_changes", table=STUDY, event="UPDATE", when=OVER),
        refuse(
            "a_study_is_never_replaced",
            table=STUDY,
            event="INSERT",
            when=f"EXISTS (SELECT 1 FROM {STUDY} s WHERE s.id = NEW.id)",
        ),
        refuse("a_study_is_never_removed", table=STUDY, event="DELETE"),
        never_emptied(STUDY),
    ]
