"""How many devices have the feature on: reach's denominator."""

from django.db import models

from portal.tasks.models import Population


class ActiveDevices(models.Model):
    """Installs of one population that have reported, once each and without any identifier."""

    population = models.OneToOneField(
        Population, on_delete=models.PROTECT, related_name="active_devices"
    )
    # Exact: what people see of it is coarse.
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "active devices"

    def __str__(self) -> str:
        return f"active devices of {self.population}"
