"""Make the keys of a new installation, once, in the folder that all its machines share."""

from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from aggregation.errors import Problem
from aggregation.partials.keys import KeyFolder
from portal.kept_secrets import PARTIALS, made_secret
from portal.supervisor.preflight import KEYS
from portal.tasks.models import Revision


class Command(BaseCommand):
    help = "Make the keys of a new installation, once. Keys that are there stay as they are."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--lost", nargs="+", choices=KEYS, default=(), metavar="KEY",
            help=f"these keys of this installation are lost for good: {', '.join(KEYS)}",
        )  # fmt: skip

    def handle(self, *args: Any, lost: Collection[str], **options: Any) -> None:
        gone = [name for name in KEYS if not (settings.KEYS_DIR / name).exists()]
        if not set(gone) <= set(lost):
            _refuse_others(gone)
        KeyFolder(settings.KEYS_DIR / PARTIALS)
        for name in KEYS:
            made_secret(name)  # says so of one that is damaged
        made = f"Made: {', '.join(gone)}." if gone else "All were there."
        self.stdout.write(f"The keys are in {settings.KEYS_DIR}. {made}")


def _refuse_others(gone: list[str]) -> None:
    """A machine whose key folder is not mounted would trust nothing that the others trust; nor
    would any, with another key in the place of one that is gone."""
    if _has_approvals():
        raise Problem(
            f"Tasks were approved here, but {settings.KEYS_DIR} lacks their {gone[0]}.",
            hint="Mount the key folder of this installation, or put back what is gone. If it is "
            f"lost for good, say so with --lost {' '.join(gone)}: /docs/operations tells what that "
            "costs.",
        )


def _has_approvals() -> bool:
    """In a database that may be empty still."""
    tables = connection.introspection.table_names()
    return Revision._meta.db_table in tables and Revision.objects.exclude(signature="").exists()
