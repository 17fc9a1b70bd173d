"""What devices did, counted without knowing which: by day and by week, and reach by window."""

from django.db import models

from portal.tasks.models import TaskWindow


class FleetCount(models.Model):
    """How often something happened within one civil day or week. No device is in it."""

    class Span(models.TextChoices):
        DAY = "day", "Day"
        WEEK = "week", "Week"

    span = models.CharField(max_length=4, choices=Span)
    # The first day of it, UTC; of a week its Monday.
    start = models.DateField()
    # Empty where the call does not say which.
    population = models.CharField(max_length=64, blank=True)
    # As `portal.collection.fleet_counts` names them.
    counter = models.CharField(max_length=60)
    # Exact: what people see of it is coarse.
    count = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["span", "start", "population", "counter"]
        constraints = [
            models.UniqueConstraint(
                fields=["span", "start", "population", "counter"],
                name="a_count_of_a_span_is_one",
            )
        ]

    def __str__(self) -> str:
        return f"{self.counter} in the {self.span} {self.start}"


class Reach(models.Model):
    """Devices that contributed to a released window, beside those that could have.

    Both are coarse already here: two significant digits, and 0 for everything below 1000. The
    exact number of contributions is in memory only.
    """

    window = models.OneToOneField(TaskWindow, on_delete=models.PROTECT, related_name="reach")
    contributed = models.PositiveBigIntegerField()
    # Installs of the task's populations that had reported by then.
    active = models.PositiveBigIntegerField()

    class Meta:
        verbose_name_plural = "reach"

    def __str__(self) -> str:
        return f"reach of {self.window}"
