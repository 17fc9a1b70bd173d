"""No pause of a release outlasts the keys of its partials."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("releases", "0003_attempt")]

    operations = [
        migrations.AddField(
            model_name="attempt", name="try_by", field=models.DateTimeField(null=True)
        )
    ]
