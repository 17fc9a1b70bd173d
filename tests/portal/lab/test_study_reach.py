"""Studies of reach: the paper's two tables, from simulated phones."""

import json
from contextlib import redirect_stdout
from io import StringIO

import pytest
from django.core.management import call_command

from aggregation.errors import Problem
from portal.lab.reaching import study_reach
from portal.lab.reaching.constraints import counted
from portal.lab.reaching.study import lines
from portal.lab.running import Ask, Stopped


@pytest.fixture(scope="module")
def told():
    with StringIO() as out, redirect_stdout(out):
        call_command("study_reach", "--devices", "20000", "--json")
        return json.loads(out.getvalue())


def test_phones_reach_what_the_model_says(told):
    rows = told["constraints"]
    assert len(rows) == 16
    for row in rows:
        # 5,000 phones for each country: a standard deviation is at most 0.7 %.
        assert row["phones"] == pytest.approx(row["model"], abs=3), row
    assert {row["kind"] for row in rows} == {"fitted", "predicted"}


def test_it_prints_both_tables(told):
    text = "\n".join(lines(told))
    assert "idle, Wi-Fi, charging  all countries weekly  fitted       49.4 %" in text
    assert "1.0       predicted" in text


def test_it_says_how_far_it_is():
    shares = []
    counted(20_000, 1, Ask(progress=shares.append).part(0.0, 0.4))
    assert shares == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_it_stops_when_asked_to():
    with pytest.raises(Stopped):
        counted(20_000, 1, Ask(cancelled=lambda: True))


def test_it_refuses_a_handful_of_phones():
    with pytest.raises(Problem, match="from 20,000 to 2,000,000, not 5"):
        study_reach({"phones": 5, "seed": 1})
