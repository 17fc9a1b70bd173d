"""Where a mechanism's numbers come from."""

from django.db import models

from portal.accounts.models import Person


class Provenance(models.Model):
    """What is known of the parameters that somebody put into a draft: by the hash of the mechanism,
    so it is true of every revision that has these very numbers, and of none that was changed by
    hand afterwards. A revision has what was last noted when it was submitted. Rows are only ever
    added: kept by the database.
    """

    # Of the mechanism's one spelling.
    mechanism_sha256 = models.CharField(max_length=64, db_index=True)
    # Kind, data hash, seed, date, fit quality: plain values, as the calibration told them.
    facts = models.JSONField()
    noted_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    # Civil time.
    noted_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "provenances"

    def __str__(self) -> str:
        return f"provenance of {self.mechanism_sha256[:12]}"
