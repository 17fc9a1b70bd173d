"""Add someone from the command line: the first operator of a production system."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from portal.accounts.models import Role
from portal.accounts.services import add_person
from portal.clock import civil_clock


class Command(BaseCommand):
    help = "Add a person and print a starting password, which they must change."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument(
            "--role", action="append", default=[], choices=Role.values, help="may be repeated"
        )
        parser.add_argument("--email", default="")
        parser.add_argument("--full-name", default="")

    def handle(
        self, *args: Any, username: str, role: list[str], email: str, full_name: str, **_: Any
    ) -> None:
        given = add_person(
            username=username,
            full_name=full_name,
            email=email,
            roles={Role(value) for value in role},
            clock=civil_clock(),
        )
        roles = ", ".join(sorted(given.person.roles())) or "no role"
        self.stdout.write(f"Added {given.person.username} ({roles}).")
        self.stdout.write(f"Starting password, shown only now: {given.password}")
