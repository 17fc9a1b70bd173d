"""One log for all processes: a coloured name, then the line."""

import os
import sys
import time

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
    clock, name_colour = time.strftime("%H:%M:%S"), _COLOURS.get(name, "37")
    line = f"{_paint('90', clock)} {_paint(name_colour, f'{name:<8}')} {line}"
    print(line, flush=True)  # noqa: T201


def _paint(colour: str, words: str) -> str:
    plain = not sys.stdout.isatty() and not os.environ.get("FORCE_COLOR")
    return words if plain or os.environ.get("NO_COLOR") else f"\x1b[{colour}m{words}\x1b[0m"
