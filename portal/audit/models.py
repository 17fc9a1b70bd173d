"""The audit log: append-only, each entry chained to the one before by its hash."""

import hashlib
import json
from datetime import UTC
from typing import Any

from django.db import models

GENESIS = "0" * 64


class Entry(models.Model):
    """One thing that happened: who did what to which object, from what to what.

    Never updated and never deleted: database triggers refuse both. `hash` covers every other
    field and the hash before, so a change made behind the database's back is found.
    """

    seq = models.BigIntegerField(unique=True)
    # Machine time, and civil time where the clock is simulated.
    at = models.DateTimeField(db_index=True)
    civil_at = models.DateTimeField()
    # A person by id and name as it was then; nobody for the system's own jobs.
    actor_id = models.BigIntegerField(null=True, db_index=True)
    actor = models.CharField(max_length=150)
    action = models.CharField(max_length=60, db_index=True)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=100)
    object_label = models.CharField(max_length=200)
    # [{"field", "from", "to"}, …]
    changes = models.JSONField(default=list)
    previous = models.CharField(max_length=64, unique=True)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["-seq"]
        verbose_name_plural = "entries"
        indexes = [
            models.Index(fields=["object_type", "object_id"], name="audit_by_object"),
            models.Index(fields=["civil_at"], name="audit_by_civil_day"),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.action} {self.object_label}"

    def content(self) -> dict[str, Any]:
        """What the hash covers, in the form it is exported in."""
        return {
            "seq": self.seq,
            "at": self.at.astimezone(UTC).isoformat(timespec="microseconds"),
            "civil_at": self.civil_at.astimezone(UTC).isoformat(timespec="microseconds"),
            "actor_id": self.actor_id,
            "actor": self.actor,
            "action": self.action,
            "object_type": self.object_type,
            "object_id": self.object_id,
            "object_label": self.object_label,
            "changes": self.changes,
            "previous": self.previous,
        }

    def computed_hash(self) -> str:
        text = json.dumps(self.content(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


class Head(models.Model):
    """The end of the chain: one row, locked while an entry is added, so that it never forks."""

    seq = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, default=GENESIS)
    # Whether it was ever written down outside the database.
    witnessed = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="the_chain_has_one_head")
        ]


class Verification(models.Model):
    """How far the chain has been verified, when, and what was found: one row."""

    seq = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, default=GENESIS)
    at = models.DateTimeField(null=True)
    whole_at = models.DateTimeField(null=True)
    # A sentence that says where the chain breaks; empty while it is sound.
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="the_chain_has_one_verification")
        ]
