"""The import ladder holds, and each of its contracts is seen to fail when it is broken."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BREAKS = {
    "The heart knows nothing": ("aggregation/clock.py", "import portal.clock"),
    "Inside the heart": ("aggregation/protocol/windows.py", "import aggregation.mechanisms"),
    "Apps of the portal": ("portal/audit/selectors.py", "import portal.accounts.models"),
    "Noise is added": ("portal/collection/gathering.py", "import aggregation.release.noise"),
    "Noise from a seed": ("portal/lab/using.py", "import portal.lab.comparing.seeded_noise"),
    "Of the shell": ("portal/tasks/forecast.py", "import devices_sim.fleet.reach"),
    "The core and the sessions": ("aggregation/core/__init__.py", "import tempfile"),
    "A phone knows the server": ("devices_sim/device/runtime.py", "import aggregation.sessions"),
    "A phone's program": ("devices_sim/device/storage.py", "import django.conf"),
}


def test_it_holds():
    found = lint(ROOT)
    assert found.returncode == 0, found.stdout


def test_every_contract_has_its_break():
    text = lint(ROOT).stdout
    kept = [line for line in text.splitlines() if line.endswith(" KEPT")]
    assert len(kept) == len(BREAKS)


@pytest.mark.parametrize("contract", BREAKS)
def test_a_contract_fails_when_it_is_broken(contract, tmp_path):
    path, line = BREAKS[contract]
    for package in ("aggregation", "devices_sim", "portal"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pyc*"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / path).open("a") as file:
        file.write(f"\n{line}\n")
    found = lint(tmp_path)
    assert found.returncode == 1
    broken = [row for row in found.stdout.splitlines() if row.endswith(" BROKEN")]
    assert any(row.startswith(contract) for row in broken), found.stdout


def lint(folder):
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
