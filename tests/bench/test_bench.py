"""`make bench` prints figures that a program can read; `make help` names every target."""

import json
import re
import subprocess
import sys

from tests.parts import ROOT


def run(*command):
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def test_every_line_is_a_figure_beside_a_peer():
    done = run(sys.executable, "-m", "tests.bench", "domains")
    assert done.returncode == 0, done.stderr
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    assert figures
    for figure in figures:
        assert {"name", "ours", "peer", "ratio", "unit"} <= set(figure)
        assert figure["ours"] > 0


def test_a_measurement_that_is_not_there_is_named():
    done = run(sys.executable, "-m", "tests.bench", "nothing")
    assert done.returncode == 2
    assert "No such measurement: nothing." in done.stdout


def test_help_names_every_target():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = set(re.findall(r"make (\w+)", run("make", "help").stdout))
    assert shown == targets - {"browser"}
