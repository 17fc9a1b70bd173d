"""The Python client, against a real front end: what the page in /docs says it does."""

import ast
import importlib.util
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.db import connection

from portal.accounts.tokens import create_token
from portal.releases.rendering import folder_of
from tests.parts import ROOT, clean_environment, eventually, free_port
from tests.portal.collection.collecting import someone
from tests.portal.pages.reading_docs import fences
from tests.portal.releases.browsing.conftest import BERLIN, FIRST, MARSEILLE, PARIS, SECOND

TASK = "trips-by-region"


@pytest.fixture(scope="module")
def mayfly():
    path = finders.find("client/mayfly.py")
    spec = importlib.util.spec_from_file_location("mayfly", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["mayfly"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["mayfly"]


@contextmanager
def front_end(data: Path, keys: Path, *, public: str) -> Iterator[str]:
    """uvicorn on this test's data; the database lies where the settings look for it."""
    connection.close()
    shutil.copy(connection.settings_dict["NAME"], data / "mayfly.sqlite3")
    port, log = free_port(), data / "uvicorn.log"
    env = {
        **clean_environment(),
        "MAYFLY_DATA": str(data),
        "MAYFLY_KEYS_DIR": str(keys),
        "MAYFLY_PORT": str(port),
        "MAYFLY_PUBLIC_RELEASES": public,
    }
    command = [sys.executable, "-m", "uvicorn", "portal.asgi:application", "--port", str(port),
               "--no-access-log", "--log-level", "warning"]  # fmt: skip
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=out, stderr=out)

    def is_ready() -> bool:
        if process.poll() is not None:
            raise RuntimeError(log.read_text())
        with urllib.request.urlopen(f"{url}/api/v1/release-key", timeout=5) as answer:
            return bool(answer.status == 200)

    url = f"http://127.0.0.1:{port}"
    try:
        eventually(is_ready, within=90, log=log)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


def test_it_works(mayfly, released, settings, tmp_path, capsys):
    """One front end, and everything the client can do, in one go."""
    with front_end(settings.DATA, settings.KEYS_DIR, public="on") as url:
        release = mayfly.connect(url).release(TASK)
        assert (release.window, release.label) == (SECOND, SECOND)
        table = release.table("cells", activity="cycling", shown=True, sort="-distance_km")
        assert table["region_name"] == ["Lyon", "Munich", "Paris", "Berlin"]
        for value, width in zip(table["distance_km"], table["distance_km_half_width"], strict=True):
            assert value > width > 0
        columns_and_rows(release)
        differences(mayfly, release)
        signed = (folder_of(released[1]) / "cells.parquet").read_bytes()
        release.save("cells.parquet", str(tmp_path / "saved.parquet"))
        assert (tmp_path / "saved.parquet").read_bytes() == signed
        problems(mayfly, url, release)
        the_page_in_the_docs(url, capsys)


def columns_and_rows(release):
    whole = release.table()
    assert len(whole) == 45 == len(list(whole))
    hidden = release.table("cells", region=MARSEILLE)
    assert hidden["distance_km"] == [None] * 9
    assert hidden["suppressed"][0].startswith("The noise is more than")
    assert hidden.numbers("distance_km") == []
    some = release.table("cells", region=[PARIS, BERLIN], activity=("bus", "train"))
    assert {row["region_name"] for row in some} == {"Paris", "Berlin"}
    assert len(some) == 4
    french = release.table("by-region", country="FR", where={"shown": "1"})
    assert french["country"] == ["FR", "FR"]
    assert len(release.table("cells", region=MARSEILLE, shown=True)) == 0
    assert {"cells", "by-region", "total", "emissions-by-country"} <= set(release.tables)
    assert release.card["epsilon"] == "0.5"
    assert release.citation.startswith("Mayfly (2026). trips-by-region")


def differences(mayfly, release):
    """Every sum doubled between the two days."""
    assert release.previous.window == FIRST
    table = release.table("by-region", shown=True)
    numbers = table.numbers("num_trips")
    for number in numbers:
        change = number.change()
        assert change.is_clear
        assert change.percent == pytest.approx(100, rel=0.1)
        assert change.half_width == pytest.approx(
            (number.half_width**2 + change.since.half_width**2) ** 0.5
        )
        assert str(change).startswith("+")
    per_person = table.numbers("num_trips", per="population")
    at = per_person[1].row
    assert per_person[1].value == pytest.approx(at["num_trips"] / at["population"])
    assert numbers[1].differs_from(numbers[0])
    assert not numbers[1].differs_from(numbers[1])
    with pytest.raises(mayfly.Problem, match="trips-by-region has no release before 2026-11-17"):
        _ = release.previous.previous


def problems(mayfly, url, release):
    for ask, sentence in (
        (lambda: release.table("cells", activity="cyclng"), "Did you mean cycling?"),
        (lambda: release.table("by-regoin"), "There is nothing at this address"),
        (lambda: release.table("total")["km"], "has no column 'km'. There are privacy_time_unit"),
        (lambda: mayfly.connect(url).release("nothing"), "There is nothing at this address"),
        (lambda: mayfly.connect(url, "mfly_wrong").release(TASK), "token"),
        (lambda: mayfly.connect(f"http://127.0.0.1:{free_port()}").releases(), "Nothing answers"),
        (lambda: mayfly.connect("file:///etc/hosts"), "is no address"),
    ):
        with pytest.raises(mayfly.Problem) as problem:
            ask()
        assert sentence in str(problem.value)
    assert "mfly_wrong" not in repr(mayfly.connect(url, "mfly_wrong"))


def the_page_in_the_docs(url, capsys):
    """Its examples answer the question, in ten lines."""
    three, question = (block.content for block in fences("client", "python"))
    assert len(three.strip().splitlines()) == 3
    assert len([line for line in question.splitlines() if line]) <= 10
    changes = {"http://127.0.0.1:8000": url, "weekly-trips": TASK, "by-region-activity": "cells"}
    for block in (three, question):
        for before, now in changes.items():
            block = block.replace(before, now)  # noqa: PLW2901
        exec(compile(block, "client.md", "exec"), {})  # noqa: S102 - our own documentation
    said = capsys.readouterr().out
    assert said.splitlines()[1].startswith("Lyon 10")
    assert "The first is clearly first: True" in said
    assert "larger than the noise: True" in said


def test_a_token_opens_what_is_not_public(mayfly, released, collecting, settings, monkeypatch):
    owner = someone("tom", "consumer")
    made = create_token(
        owner=owner, name="client", scopes=["read"], lifetime_days=30, clock=collecting.clock
    )
    with front_end(settings.DATA, settings.KEYS_DIR, public="off") as url:
        with pytest.raises(mayfly.Problem, match="people who are signed in"):
            mayfly.connect(url).release(TASK)
        assert len(mayfly.connect(url, made.secret).release(TASK).table("by-region")) == 5
        monkeypatch.setenv("MFLY_TOKEN", made.secret)
        assert mayfly.connect(url).releases(TASK)[0]["window"] == SECOND


def test_numbers_are_written_with_the_digits_that_noise_leaves(mayfly):
    for value, width, text in (
        (12.345, 0.321, "12.35 ± 0.32"),
        (123456.7, 4321, "123,457 ± 4,321"),
        (-0.5, 0.00123, "-0.5000 ± 0.0012"),
        (5, 0, "5 ± 0"),
        (5, float("inf"), "5 ± ∞"),
    ):
        assert mayfly._written(value, width) == text


def test_a_metric_that_is_called_like_a_half_width_is_not_taken_for_one(mayfly):
    columns = {"km": [50.0], "km_half_width_": [2.0], "km_half_width": [9.0]}
    table = mayfly.Table(release=None, name="total", query={}, columns=columns)
    (number,) = table.numbers("km")
    assert (number.value, number.half_width) == (50.0, 2.0)
    with pytest.raises(mayfly.Problem, match="no column 'km_half_width_half_width'"):
        table.numbers("km_half_width")


def test_an_answer_that_breaks_off_is_no_answer(mayfly):
    assert mayfly._columns([b"[\n", b'{"a": 1},\n', b'{"a": null}\n', b"]\n"]) == {"a": [1, None]}
    assert mayfly._columns([b"[]\n"]) == {}
    with pytest.raises(mayfly.Problem, match="broke off"):
        mayfly._columns([b"[\n", b'{"a": 1},\n'])


def test_it_needs_nothing_but_python(mayfly):
    """Nor anything newer than 3.9."""
    text = Path(finders.find("client/mayfly.py")).read_text()
    tree = ast.parse(text, feature_version=(3, 9))
    names = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert names - set(sys.stdlib_module_names) == {"pandas", "polars"}
