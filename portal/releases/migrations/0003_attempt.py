"""A release that keeps failing has pauses."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("releases", "0002_rules"), ("tasks", "0003_populations")]

    operations = [
        migrations.CreateModel(
            name="Attempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("times", models.PositiveIntegerField()),
                ("next_at", models.DateTimeField()),
                (
                    "window",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attempt",
                        to="tasks.taskwindow",
                    ),
                ),
            ],
        ),
    ]
