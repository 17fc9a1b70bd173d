"""Print the public keys that a device pins."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from portal.collection.keys import pinned_keys


class Command(BaseCommand):
    help = "Print the public keys that a device pins, as JSON: approval and worker, in hex."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        print(json.dumps(pinned_keys()))
