"""The production environments in the documentation are complete and pass the deployment checks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from portal.supervisor.system import PROCESSES
from tests.machines.units import units
from tests.parts import clean_environment
from tests.portal.pages.reading_docs import fences

BASE = Path(settings.BASE_DIR)


PAGES = ("settings", "installing")
SECRET = "x7Qk9" * 14


def example(page: str) -> dict[str, str]:
    text = commands() if page == "installing" else fences(page, "env")[0].content
    pairs = re.findall(r"^(MAYFLY_\w+)=(.*)$", text, re.MULTILINE)
    return {name: re.sub(r"<[^>]+>|\$\(.*\)|\$[A-Z]+", SECRET, value) for name, value in pairs}


def commands() -> str:
    return "".join(block.content for block in fences("installing", "sh root"))


@pytest.mark.parametrize("page", PAGES)
def test_it_has_everything_that_production_needs(page: str) -> None:
    code = (BASE / "portal" / "settings.py").read_text()
    needed = set(re.findall(r'required_in_production\(\s*"(MAYFLY_\w+)"', code))
    assert needed <= set(example(page))


@pytest.mark.parametrize("page", PAGES)
def test_it_passes_the_deployment_checks(page: str, tmp_path: Path) -> None:
    folders = {"MAYFLY_DATA": str(tmp_path), "MAYFLY_KEYS_DIR": str(tmp_path / "keys")}
    ran = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=BASE, env={**clean_environment(), **example(page), **folders},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_one_machine_is_laid_out_as_the_units_expect() -> None:
    said = commands()
    for one in units():
        if one.path.suffix == ".service":
            folders = one.values("ReadWritePaths")[0].split()
            places = [*folders, *one.values("WorkingDirectory"), *one.values("EnvironmentFile")]
            assert [place for place in places if place not in said] == []
            assert f"useradd --system --home-dir {one.values('WorkingDirectory')[0]}" in said
    enabled = re.search(r"systemctl enable --now mayfly\.target (.*)", said)
    assert enabled
    assert {name.partition("@")[0] for name in enabled[1].split()} == {
        f"mayfly-{process}" for process in PROCESSES
    }


def test_the_commands_can_be_read_by_a_shell() -> None:
    ran = subprocess.run(["sh", "-n"], input=commands(), text=True, check=False)
    assert ran.returncode == 0


def test_the_proxy_writes_nothing_of_devices_to_a_disk() -> None:
    (block,) = fences("installing", "nginx")
    lines = dict(line.strip(" ;").partition(" ")[::2] for line in block.content.splitlines())
    assert lines["client_body_buffer_size"] == lines["client_max_body_size"]
    assert lines["access_log"] == "off"
    assert lines["error_log"].endswith(" crit")
    assert "proxy_set_header X-Forwarded-Proto $scheme;" in block.content
