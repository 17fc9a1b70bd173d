"""The kinds of studies: how each checks what it is asked, and what it runs.

Imports are inside: what a study needs takes a second to load, and pages need none of it.
"""

from collections.abc import Callable
from typing import Any

from aggregation.errors import Problem
from portal.lab.models import Study
from portal.lab.pieces import cores

Parameters = dict[str, Any]
Progress = Callable[[float], None]
Cancelled = Callable[[], bool]


def checked(kind: str, given: object) -> Parameters:
    """The parameters with every default written out; what does not fit is a sentence."""
    if kind not in Study.Kind.values:
        raise Problem(
            f"There is no study {kind!r}.", hint=f"There are {_named(Study.Kind.values)}."
        )
    if not isinstance(given, dict):
        raise Problem("The parameters of a study are a set of names and values.")
    if kind == Study.Kind.COMPARISON:
        from portal.lab.comparing.parameters import Parameters as Comparison

        return Comparison.of(given).plain()
    if kind == Study.Kind.CALIBRATION:
        from portal.lab.calibrating.parameters import Parameters as Calibration

        return Calibration.of(given).plain()
    from portal.lab.reaching.parameters import Parameters as Reach

    return Reach.of(given).plain()


def run(kind: str, parameters: Parameters, progress: Progress, cancelled: Cancelled) -> Any:
    """On all cores: a study has low priority, so nobody waits for it."""
    if kind == Study.Kind.COMPARISON:
        from portal.lab.comparing import compare

        return compare(parameters, progress, cancelled, processes=cores())
    if kind == Study.Kind.CALIBRATION:
        from portal.lab.calibrating import calibrate

        return calibrate(parameters, progress, cancelled, processes=cores())
    from portal.lab.reaching import study_reach

    return study_reach(parameters, progress, cancelled)


def _named(values: list[str]) -> str:
    return ", ".join(values)
