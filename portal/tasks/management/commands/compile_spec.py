"""Judge a task spec: say what is wrong and where, or what the task would do."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import Error as DatabaseError

from aggregation.errors import Problem
from portal.streams.selectors import installed_catalog
from portal.tasks.judging import judged, weekly_cap
from portal.tasks.populations import known_populations


class Command(BaseCommand):
    help = "Compile a task spec (YAML or JSON). Exit code 0: accepted, 1: refused, 2: unreadable."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="a file, or - for standard input")
        parser.add_argument("--json", action="store_true", help="the whole report as JSON")

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        text, catalog = _read(file), installed_catalog()
        code, report = judged(text, catalog, _populations(), cap=weekly_cap())
        print(json.dumps(report, ensure_ascii=False) if options["json"] else _in_words(report))
        sys.exit(code)


def _populations() -> frozenset[str] | None:
    """A spec can be judged where there is no database; then any population will do."""
    try:
        return known_populations()
    except DatabaseError:
        print("Populations are not checked: the database does not answer.", file=sys.stderr)
        return None


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Problem(f"The file {file} cannot be read ({error.strerror}).") from None


def _in_words(report: dict[str, Any]) -> str:
    lines = [_line(found) for found in report["diagnostics"]]
    lines.append(report["explain"] if report["accepted"] else "The spec is refused.")
    return "\n".join(lines)


def _line(found: dict[str, Any]) -> str:
    place = f":{found['line']}:{found['column']}" if found["line"] else ""
    where = f"{found['part']}{place} {found['severity']} [{found['rule']}]"
    return f"{where} {found['message']} {found['hint']}\n"
