"""Specs that must not get through: each refused by the rules said, at the places said."""

import pytest

from aggregation.compiler import Refused, compile_spec
from tests.aggregation.compiler.catalogue import BACKSTOPS, REFUSALS
from tests.aggregation.compiler.corpus import Case, cases, catalog

HOSTILE = cases("hostile")
CATALOG = catalog()


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 160
    assert len({case.name for case in HOSTILE}) == len(HOSTILE)


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.name)
def test_it_is_refused(case: Case) -> None:
    result = compile_spec(case.spec, CATALOG)
    assert isinstance(result, Refused)
    assert _found(result) == list(case.expect)
    for diagnostic in result.diagnostics:
        assert diagnostic.message.endswith(".")
        assert "internal" not in diagnostic.rule


def test_every_rule_has_a_case() -> None:
    seen = {expected["rule"] for case in HOSTILE for expected in case.expect}
    assert seen <= REFUSALS
    assert REFUSALS - seen == {"internal"}


@pytest.mark.parametrize("rule", sorted(REFUSALS - set(BACKSTOPS)))
def test_removing_a_rule_turns_a_case_red(rule: str) -> None:
    """Without the rule, some case no longer gets the answer that `test_it_is_refused` expects."""
    without = frozenset({rule})
    concerned = [c for c in HOSTILE if any(e["rule"] == rule for e in c.expect)]
    answers = [compile_spec(case.spec, CATALOG, without=without) for case in concerned]
    wrong = [
        case.name
        for case, answer in zip(concerned, answers, strict=True)
        if not isinstance(answer, Refused) or _found(answer) != list(case.expect)
    ]
    assert wrong


def test_what_no_rule_catches_is_still_refused() -> None:
    """A hole in the rules on names and syntax ends in a refusal, never in a client task."""
    nets = ("event_time", "free_text", "row_id", "unknown_column", "function")
    for rule in nets:
        for case in HOSTILE:
            if any(e["rule"] == rule for e in case.expect):
                assert isinstance(
                    compile_spec(case.spec, CATALOG, without=frozenset({rule})), Refused
                )


def _found(result: Refused) -> list[dict[str, object]]:
    return [
        {"rule": d.rule, "part": d.part}
        | ({"line": d.line, "column": d.column} if d.line is not None else {})
        for d in result.diagnostics
        if d.severity == "refusal"
    ]
