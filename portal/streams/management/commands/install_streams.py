"""Build the streams' catalog, domains and places into the data folder, or check that they are."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from portal.streams.services import install_streams


class Command(BaseCommand):
    help = "Install the streams with their domains and places; a second run only checks them."
    requires_system_checks = []

    def handle(self, *args: Any, verbosity: int, **options: Any) -> None:
        installation = install_streams(folder=settings.DATA / "streams", tell=self.stdout.write)
        if verbosity:
            names = ", ".join(stream.name for stream in installation.catalog)
            did = "are installed" if installation.built else "were installed already and are whole"
            self.stdout.write(f"The streams {names} {did}.")
