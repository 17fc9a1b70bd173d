"""The verdict on a spec: the compiler's, and whether a week has room for its ε at all.

What other tasks have taken of a week may come free again, so that keeps nobody from submitting. A
task that is over the cap all alone can never be approved, and is refused before anybody reviews it.
"""

from decimal import Decimal
from typing import Any

import msgspec
from django.conf import settings

from aggregation.compiler.diagnostics import Diagnostic
from aggregation.compiler.report import REFUSED, compile_text
from aggregation.errors import Problem
from aggregation.protocol.spec_text import read_document
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit
from portal.tasks.forecast import largest_epsilon, weekly_cost

_EPSILON = ("anonymization", "epsilon")


def weekly_cap() -> Decimal:
    """The ε that each stream has per civil week."""
    return (Decimal(settings.WEEKLY_EPSILON) / 100).normalize()


def judged(
    text: str | bytes, catalog: Catalog, populations: frozenset[str] | None, *, cap: Decimal
) -> tuple[int, dict[str, Any]]:
    """The compiler's code and report, which also refuses an ε that no week has room for."""
    code, report = compile_text(text, catalog, populations)
    if not report["accepted"]:
        return code, report
    config, once = report["server_config"], "step" in report["client_task"]
    unit = Unit(config["window_unit"])
    problem = over_cap(Decimal(config["epsilon"]), unit, cap=cap, once=once)
    return (REFUSED, _refused(report, problem, text)) if problem else (code, report)


def over_cap(epsilon: Decimal, unit: Unit, *, cap: Decimal, once: bool) -> Problem | None:
    """What is wrong with an ε that is over the weekly cap without any other task's."""
    cost = epsilon if once else weekly_cost(epsilon, unit)
    if cost <= cap:
        return None
    often = "" if once else f" every {unit}"
    most = cap if once else largest_epsilon(unit, cap)
    return Problem(
        f"With ε = {_short(epsilon)}{often}, one week can cost {_short(cost)}, and each week has "
        f"{_short(cap)}: nobody could approve this task.",
        hint=f"Lower ε to at most {_short(most)}." if most else "Choose a longer window.",
    )


def _refused(report: dict[str, Any], problem: Problem, text: str | bytes) -> dict[str, Any]:
    line, column = read_document(text).places.get(_EPSILON, (None, None))
    found = Diagnostic(
        rule="weekly_cap",
        severity="refusal",
        message=problem.message,
        hint=problem.hint,
        part=".".join(_EPSILON),
        line=line,
        column=column,
    )
    diagnostics = [*report["diagnostics"], msgspec.to_builtins(found)]
    return {**dict.fromkeys(report), "accepted": False, "diagnostics": diagnostics}


def _short(epsilon: Decimal) -> str:
    return f"{epsilon.normalize():f}"
