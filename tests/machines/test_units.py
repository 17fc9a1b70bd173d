"""The systemd units: systemd accepts them, they give few rights, and each process has one."""

import shutil
import subprocess
from pathlib import Path

import pytest

from portal.supervisor.system import PROCESSES
from tests.machines.network import PLACE
from tests.machines.units import Unit, units
from tests.parts import ROOT

# Of ten, as systemd counts: 0 is a process that can do nothing.
MOST_EXPOSED = 2.0
SERVICES = [one for one in units() if one.path.suffix == ".service"]
needs_systemd = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze is not here to judge the units."
)


def test_each_process_has_a_unit() -> None:
    commands = [one.command("1")[2:] for one in SERVICES]
    started = {words[1] for words in commands if words[0] == "process"}
    assert started == set(PROCESSES)
    assert ["prepare"] in commands


@pytest.mark.parametrize("unit", SERVICES, ids=lambda one: one.path.name)
def test_what_they_say_of_each_other_is_there(unit: Unit) -> None:
    assert unit.command()[:2] == [f"{PLACE}/.venv/bin/python", "manage.py"]
    assert unit.values("EnvironmentFile") == ["/etc/mayfly/environment"]
    assert unit.values("WantedBy") == ["mayfly.target"]
    named = {word for value in unit.values("After") for word in value.split() if "mayfly" in word}
    assert named <= {one.path.name for one in units()}


@pytest.mark.parametrize("unit", SERVICES, ids=lambda one: one.path.name)
def test_what_devices_send_reaches_no_disk(unit: Unit) -> None:
    assert unit.values("LimitCORE") == ["0"]
    assert unit.values("MemorySwapMax") == ["0"]


@pytest.mark.parametrize("unit", SERVICES, ids=lambda one: one.path.name)
def test_stores_on_the_same_machine_stop_last(unit: Unit) -> None:
    """Else a session that is told to stop finds nobody to give its sum to."""
    after = {word for value in unit.values("After") for word in value.split()}
    assert after >= {"postgresql.service", "redis-server.service", "redis-server@queues.service"}


@needs_systemd
def test_systemd_accepts_them(tmp_path: Path) -> None:
    for one in units():
        text = one.path.read_text().replace(PLACE, str(ROOT))
        (tmp_path / one.path.name).write_text(text)
    done = analyze("verify", *map(str, sorted(tmp_path.iterdir())))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs_systemd
@pytest.mark.parametrize("unit", SERVICES, ids=lambda one: one.path.name)
def test_they_give_few_rights(unit: Unit) -> None:
    most = f"--threshold={MOST_EXPOSED * 10:.0f}"
    done = analyze("security", "--offline=yes", "--no-pager", most, str(unit.path))
    assert done.returncode == 0, done.stdout[-400:] + done.stderr


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
