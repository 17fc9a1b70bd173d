"""The systemd units that ship, read as systemd reads them: sections, repeated keys, %i and %%."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.parts import ROOT

FOLDER = ROOT / "portal" / "supervisor" / "systemd"


@dataclass(frozen=True)
class Unit:
    path: Path
    # (section, key, value), in order.
    lines: tuple[tuple[str, str, str], ...]

    def values(self, key: str) -> list[str]:
        return [value for _, found, value in self.lines if found == key]

    def command(self, instance: str = "") -> list[str]:
        """ExecStart, word by word."""
        (line,) = self.values("ExecStart")
        return shlex.split(_filled_in(line, instance))

    def environment(self, instance: str = "") -> dict[str, str]:
        """What the unit itself sets, beside the file that it names."""
        pairs = (_filled_in(value, instance).partition("=") for value in self.values("Environment"))
        return {name: value for name, _, value in pairs}


def unit(name: str) -> Unit:
    return _read(FOLDER / name)


def units() -> list[Unit]:
    return [_read(path) for path in sorted(FOLDER.iterdir())]


def _read(path: Path) -> Unit:
    section, found = "", []
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.append((section, key, value))
    return Unit(path, tuple(found))


def _filled_in(text: str, instance: str) -> str:
    return text.replace("%i", instance).replace("%%", "%")
