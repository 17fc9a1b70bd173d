"""How `tests/run.py` runs pytest: all it says is heard, nothing it leaves behind is awaited."""

import os
import re
import signal
import time
from pathlib import Path
from textwrap import dedent

import pytest

from tests import run

ORPHAN_SECONDS = 60
PLAIN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def arguments_for(folder: Path, text: str) -> list[str]:
    """Arguments for tests of their own, which write to the output itself."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_these.py").write_text(dedent(text))
    return ["-q", "-s", "-c", str(folder / "pytest.ini"), str(folder)]


def test_a_process_that_is_left_behind_with_the_output_is_not_awaited(tmp_path: Path) -> None:
    left = tmp_path / "pid"
    arguments = arguments_for(
        tmp_path,
        f"""
        import subprocess

        def test_leaving():
            orphan = subprocess.Popen(["sleep", "{ORPHAN_SECONDS}"], start_new_session=True)
            open({str(left)!r}, "w").write(str(orphan.pid))
        """,
    )
    began = time.monotonic()
    try:
        assert run.pytest(arguments, PLAIN, aloud=False) == (0, [])
        assert time.monotonic() - began < ORPHAN_SECONDS / 2
    finally:
        os.kill(int(left.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("aloud", [True, False])
def test_all_that_is_said_is_shown_and_what_failed_is_given_back(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], aloud: bool
) -> None:
    arguments = arguments_for(
        tmp_path,
        """
        def test_failing():
            print("a word\\n" * 20_000)
            assert False
        """,
    )
    code, failed = run.pytest(arguments, PLAIN, aloud=aloud)
    said = capfd.readouterr().out
    assert code == 1
    assert len(failed) == 1
    assert re.match(r"FAILED \S*test_these\.py::test_failing", failed[0])
    assert said.count("a word\n") == 20_000
    assert said.rstrip().endswith("s of processors")


def test_folders_with_the_longest_files_begin() -> None:
    found = run.all_but("browser")
    assert set(found[: len(run.FIRST)]) == set(run.FIRST)
    assert {"tests/portal", "tests/aggregation", "tests/machines"} < set(found)
    assert "tests/browser" not in found
