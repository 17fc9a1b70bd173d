"""One log for all processes: a coloured name, then the line; or JSON with the name in it."""

import json
import os
import sys
import time
from datetime import UTC, datetime

from django.conf import settings

_COLOURS = {
    "mayfly": "1;35",
    "valkey": "33",
    "web": "36",
    "sessions": "32",
    "jobs": "34",
    "beat": "90",
    "fleet": "95",
}


def say(name: str, line: str) -> None:
    written = as_json(name, line) if settings.LOG_FORMAT == "json" else _as_text(name, line)
    print(written, flush=True)  # noqa: T201


def as_json(name: str, line: str) -> str:
    """What a process says as JSON gets its name; anything else becomes a message."""
    try:
        told = json.loads(line)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        told = {"time": at, "level": "INFO", "message": line}
    return json.dumps({**told, "process": name}, ensure_ascii=False)


def _as_text(name: str, line: str) -> str:
    clock, name_colour = time.strftime("%H:%M:%S"), _COLOURS.get(name, "37")
    return f"{_paint('90', clock)} {_paint(name_colour, f'{name:<8}')} {line}"


def _paint(colour: str, words: str) -> str:
    plain = not sys.stdout.isatty() and not os.environ.get("FORCE_COLOR")
    return words if plain or os.environ.get("NO_COLOR") else f"\x1b[{colour}m{words}\x1b[0m"
