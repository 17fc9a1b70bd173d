"""Specs that real analysts write are accepted, with the warnings said and no others."""

import pytest

from aggregation.compiler import Compiled, compile_spec
from aggregation.protocol.spec_reading import read_spec
from aggregation.protocol.spec_writing import to_yaml
from tests.aggregation.compiler.corpus import Case, cases, catalog

GOOD = cases("good")


def test_there_are_enough_of_them() -> None:
    assert len(GOOD) >= 60
    assert len({case.name for case in GOOD}) == len(GOOD)


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_it_is_accepted(case: Case) -> None:
    result = compile_spec(case.spec, catalog())
    refusals = [d for d in result.diagnostics if d.severity == "refusal"]
    assert isinstance(result, Compiled), refusals
    found = [
        {"rule": d.rule, "part": d.part, "line": d.line, "column": d.column}
        for d in result.diagnostics
    ]
    assert len(found) == len(case.expect), found
    for expected, given in zip(case.expect, found, strict=True):
        assert expected.items() <= given.items()


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_it_round_trips(case: Case) -> None:
    assert read_spec(to_yaml(case.spec)) == case.spec
    assert read_spec(case.spec.canonical()) == case.spec
