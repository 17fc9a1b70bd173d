"""`manage.py simulate` from outside: the real system, real phones, and a check that can fail."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from aggregation.errors import Problem
from tests.parts import ROOT, clean_environment, eventually

FEW = """
description = "Some phones in two cities"
seed = 7
phones = 300
places = {{2950159 = 1, 2988507 = 1}}

[unusual]
{unusual} = 0.2
"""


# One task with few cells, and phones in one process: quick, and otherwise the same.
FEW_OF_ALL = ("--tasks", "country-modal-split", "--processes", "1")


@pytest.fixture
def folder(prepared_data: Path, tmp_path: Path) -> Path:
    """A data folder with what is the same for all systems."""
    for name in ("streams", "static"):
        shutil.copytree(prepared_data / name, tmp_path / "data" / name)
    return tmp_path / "data"


def started(folder: Path, *arguments: str, unusual: str) -> subprocess.Popen[str]:
    scenario = folder.with_name("few.toml")
    scenario.write_text(FEW.format(unusual=unusual))
    # It has a data folder of its own, whatever the settings of whoever calls it say.
    env = {**clean_environment(), "MAYFLY_DATA": str(folder.with_name("not-this-one"))}
    command = ["simulate", "--data", str(folder), "--scenario", str(scenario), "--json"]
    return subprocess.Popen(
        [sys.executable, "manage.py", *command, *arguments],
        cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finished(process: subprocess.Popen[str], code: int) -> dict[str, Any]:
    told, said = process.communicate(timeout=900)
    assert process.returncode == code, said
    found: dict[str, Any] = json.loads(told)
    return found


@pytest.mark.solo
def test_it_works(folder: Path, size: str) -> None:
    """Phones that stop in mid-upload included: what they sent is counted once, or not at all.

    At full size a hundred thousand phones for two weeks.
    """
    is_full = size == "full"
    many = ["--scenario", "world", "--devices", "100000", "--weeks", "2"]
    found = finished(started(folder, *(many if is_full else FEW_OF_ALL), unusual="crashing"), 0)
    assert found["devices"] == (100_000 if is_full else 300)
    assert found["double_counts"] == 0
    assert len(found["windows"]) == (4 if is_full else 1)
    for window in found["windows"]:
        assert window["strange"] == 0
        assert window["phones"] - window["lost"] == window["counted"] > found["devices"] / 4
        # Few stop in mid-upload in any one week, and most of them come back.
        assert window["lost"] <= window["phones"] / 20
        place = folder / "releases" / window["task"] / window["window"]
        assert (place / "card.json").exists()
    assert 0 < found["bytes_per_query"]["p95"] < 15_000
    assert {"web", "sessions", "jobs", "valkey", "phones 1"} <= set(found["peak_kilobytes"])
    for row in found["reach"]:
        if (row["where"], row["span"]) == ("all countries", "weekly"):
            # Of 300 phones, five standard deviations.
            assert row["fleet"] == pytest.approx(row["model"], abs=0.15)
    assert living(folder) == []


@pytest.mark.solo
def test_it_sees_when_the_once_only_rule_is_broken(folder: Path) -> None:
    process = started(folder, *FEW_OF_ALL, unusual="forgetful")
    found = finished(process, 1)
    (window,) = found["windows"]
    assert found["double_counts"] == window["double"] > 0
    # Each of them sent more than once, and all of it is in the sum.
    assert window["counted"] == window["sent"] == window["phones"] + window["double"]


@pytest.mark.solo
def test_ctrl_c_leaves_nothing_behind(folder: Path) -> None:
    process = started(folder, *FEW_OF_ALL, unusual="crashing")
    assert process.stderr is not None
    while "phones of the scenario" not in (line := process.stderr.readline()):
        assert line, "It ended by itself."
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told == ""
    assert not folder.exists()
    eventually(lambda: living(folder) == [], within=20)


def living(folder: Path) -> list[int]:
    """Processes that use the data folder."""
    marks = [f"MAYFLY_DATA={folder}".encode(), str(folder).encode()]
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "environ").read_bytes() + (place / "cmdline").read_bytes()
        except OSError:
            continue
        if int(place.name) != os.getpid() and any(mark in words for mark in marks):
            found.append(int(place.name))
    return found


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--devices", "0"], "--devices is a number from 1 to 10,000,000, not 0."),
        (["--weeks", "99"], "--weeks is a number from 1 to 52, not 99."),
        (["--processes", "0"], "--processes is a number from 1 to 64, not 0."),
        (["--scenario", "wrold"], "There is no scenario 'wrold'. Did you mean world?"),
        (["--seed", "-1"], "The seed is a whole number from 0 to 2⁶³, not -1."),
        (["--data", "tests"], "is not empty, and a simulation needs a data folder of its own."),
    ],
)
def test_bad_arguments_get_a_sentence(arguments: list[str], sentence: str) -> None:
    with pytest.raises(Problem) as problem:
        call_command("simulate", *arguments)
    assert sentence in str(problem.value)


def test_a_sentence_is_all_that_is_told() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "simulate", "--devices", "0"],
        cwd=ROOT, env=clean_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--devices is a number" in done.stderr
    assert "Traceback" not in done.stderr
