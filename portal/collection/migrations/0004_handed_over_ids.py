"""A hand-over names the updates in it, so that whoever is not among them need not wait for it."""

from django.db import migrations, models

from portal.triggers import changes, refuse


class Migration(migrations.Migration):
    dependencies = [("collection", "0003_fleet")]

    operations = [
        # Without a default: of hand-overs under way nobody knows, and all their devices wait.
        migrations.AddField("handover", "ids", models.BinaryField(null=True)),
        refuse(
            "a_hand_over_names_whose_it_is_once",
            table="collection_handover",
            event="UPDATE",
            when=f"NEW.ids IS NOT NULL AND ({changes('ids')})",
        ),
    ]
