"""The log is filtered by the days that it shows, which are civil."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(fields=["civil_at"], name="audit_by_civil_day"),
        ),
    ]
