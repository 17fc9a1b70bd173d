"""A signature approves one revision: copied to another, it would be nobody's decision on that."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("tasks", "0005_skipped_late")]

    operations = [
        migrations.AddConstraint(
            model_name="revision",
            constraint=models.UniqueConstraint(
                fields=["signature"],
                condition=~Q(signature=""),
                name="an_approval_is_of_one_revision",
            ),
        ),
    ]
