"""manage.py verify_release TASK WINDOW: whether a release is what was signed for."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.releases.selectors import release_by_name
from portal.releases.verification import checks_of


class Command(BaseCommand):
    help = "Check the signatures, the approval, the numbers and the files of a release."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("task", help="The name of the task, such as weekly-trips.")
        parser.add_argument("window", help="The id of the window, such as 2026-11-09.")

    def handle(self, *args: Any, task: str, window: str, **options: Any) -> None:
        release = release_by_name(task, window)
        if release is None:
            raise CommandError(f"There is no release of {task} for the window {window}.")
        checks = checks_of(release)
        for check in checks:
            self.stdout.write(f"{'ok  ' if check.holds else 'FAIL'} {check.sentence}")
        failed = sum(not check.holds for check in checks)
        if failed:
            raise CommandError(f"{failed} of {len(checks)} checks failed.")
        self.stdout.write(f"All {len(checks)} checks hold.")
