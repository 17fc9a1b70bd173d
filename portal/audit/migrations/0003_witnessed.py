"""The log knows that its end is written down elsewhere, and so whether that was lost."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_by_civil_day")]

    operations = [
        migrations.AddField(
            model_name="head",
            name="witnessed",
            field=models.BooleanField(default=False, db_default=False),
        ),
    ]
