"""A worker of short jobs that kills itself at one place in the making of a release.

Run with `DJANGO_SETTINGS_MODULE=tests.faults.dying_settings` and `TEST_DIES_AT`. The hook is hung
by this app, for tests alone; the program knows nothing of it. Noise is off, as in all these tests.
"""

import os

from django.apps import AppConfig

SETTINGS = "tests.faults.dying_settings"
PLACE = "TEST_DIES_AT"


class Dying(AppConfig):
    name = "tests.faults.dying"
    label = "dying"

    def ready(self) -> None:
        from portal.releases import failpoints
        from tests.portal.releases.killing import _killer

        failpoints.hook = _killer(os.environ[PLACE])
