"""Populations: the sets of devices that a task may run on."""

from django.db import models

from portal.accounts.models import Person

# Every device belongs to it, whatever else it belongs to.
EVERYONE = "all"


class Population(models.Model):
    """A set of devices by name. A device says which one it belongs to; nobody is listed in it."""

    name = models.CharField(
        max_length=64,
        unique=True,
        error_messages={"unique": "There is a population with this name already."},
    )
    # Nobody for `all`, which is always there.
    created_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, null=True, related_name="populations_created"
    )
    # Civil time.
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
