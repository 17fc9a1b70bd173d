"""The production environment in the documentation is complete and passes the deployment checks."""

import re
import subprocess
import sys
from pathlib import Path

from django.conf import settings

from tests.parts import clean_environment
from tests.portal.pages.reading_docs import fences

BASE = Path(settings.BASE_DIR)


def example() -> dict[str, str]:
    (block,) = fences("settings", "env")
    pairs = (line.partition("=") for line in block.content.splitlines())
    return {name: re.sub(r"<[^>]+>", "x7-Qk9_" * 10, value) for name, _, value in pairs}


def test_it_has_everything_that_production_needs() -> None:
    code = (BASE / "portal" / "settings.py").read_text()
    needed = set(re.findall(r'required_in_production\(\s*"(MAYFLY_\w+)"', code))
    assert needed <= set(example())


def test_it_passes_the_deployment_checks(tmp_path: Path) -> None:
    folders = {"MAYFLY_DATA": str(tmp_path), "MAYFLY_KEYS_DIR": str(tmp_path / "keys")}
    ran = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=BASE, env={**clean_environment(), **example(), **folders},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
