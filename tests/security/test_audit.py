"""`make audit` never passes in silence: without an answer nothing was checked."""

import json

import pytest

from tests.audit import UNCHECKED, told


@pytest.mark.parametrize("answer", ["", "ERROR: no network", "{}", "[]", "null"])
def test_without_an_answer_it_says_so(answer, capsys):
    assert told(answer) == 2
    assert capsys.readouterr().err == UNCHECKED + "\n"


def test_a_known_fault_is_told_with_what_mends_it(capsys):
    fault = {"id": "PYSEC-1", "fix_versions": ["1.1"]}
    packages = [
        {"name": "a", "version": "1.0", "vulns": [fault]},
        {"name": "b", "version": "2.0", "vulns": []},
    ]
    assert told(json.dumps({"dependencies": packages})) == 1
    assert capsys.readouterr().out == (
        "a 1.0: PYSEC-1, mended in 1.1.\nmayfly: 2 of 2 packages checked.\n"
    )


def test_all_well_says_how_many_were_looked_at(capsys):
    packages = [{"name": "a", "version": "1.0", "vulns": []}]
    assert told(json.dumps({"dependencies": packages})) == 0
    assert capsys.readouterr().out == "mayfly: 1 of 1 packages checked.\n"


def test_what_could_not_be_looked_at_is_named(capsys):
    packages = [{"name": "a", "version": "1.0"}, {"name": "c", "skip_reason": "not found"}]
    assert told(json.dumps({"dependencies": packages})) == 1
    assert "c could not be checked." in capsys.readouterr().out


def test_nothing_looked_at_is_not_all_well(capsys):
    """On a closed network pip-audit skips every package, and says that none has a fault."""
    assert told(json.dumps({"dependencies": [{"name": "c", "skip_reason": "not found"}]})) == 2
    assert capsys.readouterr().err == UNCHECKED + "\n"
