"""Devices that reported, moved from the front ends' counters into the database."""

from django.db.models import F

from aggregation.clock import Clock
from portal.collection import fleet_counts
from portal.collection.models import ActiveDevices
from portal.tasks.models import Population
from portal.valkey import queue_client


def counter(population: str) -> str:
    return f"mayfly:active:{population}"


def count_active_devices(*, clock: Clock) -> None:
    """Add what front ends counted since the last time. A crash in between loses some; a device
    reports once in its life, and reach shows two digits."""
    for population in Population.objects.all():
        if count := int(queue_client().getdel(counter(population.name)) or 0):
            row, _ = ActiveDevices.objects.get_or_create(population=population)
            ActiveDevices.objects.filter(pk=row.pk).update(count=F("count") + count)
            today = clock.now().date()
            fleet_counts.add([(today, fleet_counts.Stage.ACTIVE, population.name, count)])
