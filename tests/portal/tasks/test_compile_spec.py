"""The command and the API give the same judgement of a spec."""

import io
import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from aggregation.errors import Problem

SPEC = """\
name: trips-by-activity
description: Trips by activity
streams: [trips]
population: all
window: {unit: week, grace_hours: 24}
client_sql: |
  SELECT activity, privacy_time_unit, COUNT(*) AS n
  FROM trips GROUP BY activity, privacy_time_unit
server_sql: |
  SELECT activity, privacy_time_unit, SUM(n) AS n
  FROM device_results GROUP BY activity, privacy_time_unit
anonymization:
  epsilon: 1
  mechanism: {kind: joint_clipping, clip: 20}
"""
HOSTILE = SPEC.replace("COUNT(*) AS n", "COUNT(*) AS n, event_time")


@pytest.fixture(autouse=True)
def installed(catalog, db):
    catalog.write(settings.DATA / "streams")


@pytest.fixture
def compile_file(tmp_path, capsys):
    def run(text, *options):
        path = tmp_path / "spec.yaml"
        path.write_text(text)
        with pytest.raises(SystemExit) as ended:
            call_command("compile_spec", str(path), *options)
        return ended.value.code, capsys.readouterr().out

    return run


def test_it_works(compile_file):
    code, out = compile_file(SPEC, "--json")
    report = json.loads(out)
    assert code == 0
    assert report["accepted"] is True
    assert report["client_task"]["metrics"] == ["n"]
    assert report["server_config"]["epsilon"] == "1"
    assert "Each phone" in report["explain"]


def test_a_refused_spec_says_what_where_and_what_to_do(compile_file):
    code, out = compile_file(HOSTILE, "--json")
    report = json.loads(out)
    found = report["diagnostics"][0]
    assert code == 1
    assert (report["accepted"], report["client_task"], report["explain"]) == (False, None, None)
    assert set(found) == {"rule", "severity", "message", "hint", "part", "line", "column"}
    assert (found["part"], found["line"], found["column"]) == ("client_sql", 1, 52)


def test_the_command_speaks_to_people_too(compile_file):
    code, out = compile_file(HOSTILE)
    assert code == 1
    assert "client_sql:1:52 refusal [" in out
    assert out.strip().endswith("The spec is refused.")
    assert "Each phone" in compile_file(SPEC)[1]


def test_what_is_no_document_is_unreadable(compile_file):
    code, out = compile_file("name: [", "--json")
    assert code == 2
    assert json.loads(out)["diagnostics"][0]["rule"] == "unreadable"


def test_standard_input_is_read(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SPEC.encode())))
    with pytest.raises(SystemExit) as ended:
        call_command("compile_spec", "-")
    assert ended.value.code == 0


def test_a_file_that_is_not_there_is_one_sentence():
    with pytest.raises(Problem, match="cannot be read"):
        call_command("compile_spec", "no-such-file.yaml")


def test_a_population_that_nobody_made_is_refused_at_its_place(compile_file, signed_in):
    text = SPEC.replace("population: all", "population: [all, al]")
    code, out = compile_file(text, "--json")
    report = json.loads(out)
    [found] = report["diagnostics"]
    assert code == 1
    assert (found["part"], found["line"], found["column"]) == ("population.1", 4, 19)
    assert found["message"] == "There is no population al."
    assert found["hint"] == "Did you mean all? Operators can add others."
    client = signed_in("analyst")
    answer = client.post("/api/v1/specs/compile", text, content_type="application/yaml")
    assert answer.json() == report


def test_more_than_a_week_has_is_refused_at_its_place(compile_file, signed_in):
    text = SPEC.replace("epsilon: 1", "epsilon: 5")
    code, out = compile_file(text, "--json")
    report = json.loads(out)
    [found] = report["diagnostics"]
    assert code == 1
    assert (report["accepted"], report["client_task"], report["explain"]) == (False, None, None)
    assert (found["part"], found["line"], found["column"]) == ("anonymization.epsilon", 13, 3)
    assert found["hint"] == "Lower ε to at most 4."
    client = signed_in("analyst")
    answer = client.post("/api/v1/specs/compile", text, content_type="application/yaml")
    assert answer.json() == report


def test_without_a_database_the_command_judges_the_rest(tmp_path):
    """The streams are at hand, as on a laptop with the checkout alone; the database is not."""
    (tmp_path / "spec.yaml").write_text(SPEC.replace("all", "XX"))
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    ran = subprocess.run(
        [sys.executable, "manage.py", "compile_spec", str(tmp_path / "spec.yaml")],
        env={**os.environ, "MAYFLY_DATA": str(settings.DATA), "MAYFLY_DATABASE_URL": nowhere},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Each phone" in ran.stdout
    assert "Populations are not checked" in ran.stderr


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (SPEC, "application/yaml"),
        (json.dumps({"spec": SPEC}), "application/json"),
        (json.dumps({"spec": {"name": 3}}), "application/json"),
        ("\0", "application/json"),
        ("[" * 50_000, "application/json"),
        ("", "application/json"),
    ],
)
def test_the_api_answers_as_the_command_does(signed_in, compile_file, body, kind):
    answer = signed_in("analyst").post("/api/v1/specs/compile", body, content_type=kind)
    assert answer.status_code == 200
    report = answer.json()
    assert report["accepted"] is (SPEC[:20] in body)
    if report["accepted"]:
        assert report == json.loads(compile_file(SPEC, "--json")[1])


def test_the_api_is_for_people_who_are_signed_in(db):
    answer = Client().post("/api/v1/specs/compile", SPEC, content_type="application/yaml")
    assert answer.status_code == 401
