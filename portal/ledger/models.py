"""The privacy ledger: what each stream may cost a device per civil week, and what does.

All amounts are ε in whole hundredths: money is counted, never rounded.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from portal.states import States

# No setting can give a week more: one device's odds would shift by e^16.
HARD_CAP_HUNDREDTHS = 1600


class Week(models.Model):
    """One stream in one civil week (UTC, from Monday), with its cap and what is taken of it.

    `reserved` and `spent` are the sums of the week's charges. The database keeps them so and
    refuses whatever would take the two above the cap, for every writer.

    Of a week that is closed nobody knows what it has cost: it never has anything left again.
    """

    stream = models.CharField(max_length=64)
    monday = models.DateField()
    cap = models.PositiveIntegerField()
    reserved = models.PositiveIntegerField(default=0)
    spent = models.PositiveIntegerField(default=0)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["monday", "stream"]
        constraints = [
            models.UniqueConstraint(
                fields=["stream", "monday"], name="a_stream_has_each_week_once"
            ),
            models.CheckConstraint(
                condition=Q(cap__gte=F("reserved") + F("spent")),
                name="reserved_and_spent_stay_within_the_cap",
            ),
            models.CheckConstraint(
                condition=Q(cap__lte=HARD_CAP_HUNDREDTHS), name="no_week_may_cost_more_than_16"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stream} in {self.label}"

    @property
    def label(self) -> str:
        year, week, _ = self.monday.isocalendar()
        return f"{year:04d}-W{week:02d}"

    @property
    def left(self) -> int:
        return self.cap - self.reserved - self.spent

    def cap_over(self, taken: int) -> int:
        """The cap that holds where so much is taken: by the settings of now, but never below that.
        A week that is closed has nothing left, whatever the settings."""
        return taken if self.closed_at else max(settings.WEEKLY_EPSILON, taken)


class Charge(models.Model):
    """What one window of one task costs one stream in one week it overlaps.

    A reserved charge is spent or freed, once: kept by the database. Charges change many at a
    time; the audit log has an entry for each week that this moves.
    """

    class State(States):
        RESERVED = "reserved", "info", "Reserved"
        SPENT = "spent", "neutral", "Spent"
        FREED = "freed", "good", "Freed"

    week = models.ForeignKey(Week, on_delete=models.PROTECT, related_name="charges")
    # The task's name and the window's id: tasks stand above the ledger.
    task = models.CharField(max_length=64)
    window = models.CharField(max_length=16)
    amount = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.RESERVED)

    class Meta:
        ordering = ["week", "task", "window"]
        constraints = [
            models.UniqueConstraint(
                fields=["week", "task", "window"],
                condition=~Q(state="freed"),
                name="a_window_is_charged_to_a_week_once",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["reserved", "spent", "freed"]),
                name="a_charge_is_reserved_spent_or_freed",
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="a_charge_is_not_free"),
        ]
        indexes = [models.Index(fields=["task", "window"], name="charges_by_window")]

    def __str__(self) -> str:
        return f"{self.task} {self.window} in {self.week}"
