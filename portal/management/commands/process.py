"""Become one process of an installation on many machines. Service managers call this."""

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from portal.supervisor import preflight, system


class Command(BaseCommand):
    help = "Become one process of the system: web, sessions, jobs or beat, as the settings say."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", choices=system.PROCESSES)
        parser.add_argument(
            "--instance", default="", help="tells workers of one machine apart, such as 1 and 2"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)
        if options["name"] == "web":
            preflight.check_port(settings.BIND, settings.PORT)
        preflight.check_keys()
        preflight.check_database()
        preflight.check_queues()
        command = system.command(options["name"], instance=options["instance"])
        os.chdir(settings.BASE_DIR)
        os.execv(command[0], command)  # noqa: S606 - our own program, no shell
