"""Releases: the one noised answer per window, and the files that were made of it."""

from django.db import models

from portal.accounts.models import Person
from portal.states import States
from portal.tasks.models import Task, TaskWindow


class Release(models.Model):
    """The noised integers of one window, with their guarantee card. Added once, never changed.

    One per (task, window), kept by the database for every writer: rows are never changed,
    replaced or removed, a release begins with a window that is releasing, and a window becomes
    released only with its release and with all its charges spent. No CHECK constraints on
    purpose: PostgreSQL quotes the values of a row that fails one, in its log, before any commit.
    """

    class Audience(States):
        INTERNAL = "internal", "neutral", "Internal"
        PUBLIC = "public", "info", "Public"

    window = models.OneToOneField(TaskWindow, on_delete=models.PROTECT, related_name="release")
    # Civil time.
    released_at = models.DateTimeField(db_index=True)
    audience = models.CharField(max_length=8, choices=Audience)
    # `aggregation.release.noised.Noised`, packed, and the hash of the numbers in it.
    noised = models.BinaryField()
    noised_sha256 = models.CharField(max_length=64)
    # The guarantee card, byte for byte what is signed; the signature in hex.
    card = models.TextField()
    signature = models.CharField(max_length=128)

    class Meta:
        ordering = ["-released_at", "-pk"]

    def __str__(self) -> str:
        return f"release of {self.window}"


class Attempt(models.Model):
    """A release that is under way or keeps failing: how often it was tried, and when it is next.

    There is none for a window that was released, or not tried yet.
    """

    window = models.OneToOneField(TaskWindow, on_delete=models.PROTECT, related_name="attempt")
    times = models.PositiveIntegerField()
    # Machine time.
    next_at = models.DateTimeField()
    # Civil time: it does not wait for longer, since keys die. Empty if nothing is stored.
    try_by = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"attempt {self.times} at the release of {self.window}"


class Rendering(models.Model):
    """The files of a release: made once after it was committed, their hashes signed for good."""

    release = models.OneToOneField(Release, on_delete=models.PROTECT, related_name="rendering")
    # Machine time.
    rendered_at = models.DateTimeField()
    # The manifest, byte for byte what is signed; the signature in hex.
    manifest = models.TextField()
    signature = models.CharField(max_length=128)

    def __str__(self) -> str:
        return f"files of the {self.release}"


class Follower(models.Model):
    """Somebody who wants to be told of a task's releases, though the task is not theirs."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="followers")
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="followed")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "person"], name="a_person_follows_a_task_once")
        ]

    def __str__(self) -> str:
        return f"{self.person.username} follows {self.task}"
