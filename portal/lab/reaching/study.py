"""A study of reach: both tables, for so many phones and one seed."""

from collections.abc import Callable, Iterator
from typing import Any

from devices_sim.fleet import ladder_study
from devices_sim.fleet.ladder import Cancelled
from portal.lab.reaching import constraints
from portal.lab.reaching.parameters import Parameters
from portal.lab.running import Ask, Stopped


def study_reach(
    parameters: dict[str, Any],
    progress: Callable[[float], None] = lambda share: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """`phones` and `seed` in, figures in percent out."""
    asked = Parameters.of(parameters)
    phones, seed = asked.phones, asked.seed
    ask = Ask(progress, cancelled)
    found = constraints.counted(phones, seed, ask.part(0.0, 0.3))
    rest = ask.part(0.3, 1.0)
    try:
        ladder = ladder_study.ladder(phones, seed, progress=rest.progress, cancelled=rest.cancelled)
    except Cancelled:
        raise Stopped from None
    return {"constraints": list(constraints.rows(found)), "ladder": ladder.plain()}


def lines(result: dict[str, Any]) -> Iterator[str]:
    """Both tables as text."""
    yield _line(("conditions", "where", "", "", "paper", "model", "phones"))
    for row in result["constraints"]:
        figures = [f"{row[name]:.1f} %" for name in ("paper", "model", "phones")]
        yield _line((row["conditions"], row["where"], row["span"], row["kind"], *figures))
    yield ""
    yield from ladder_study.lines(result["ladder"]["rungs"])


def _line(cells: tuple[str, ...]) -> str:
    widths = (23, 14, 8, 10)
    return "".join(
        cell.ljust(widths[i]) if i < len(widths) else cell.rjust(9) for i, cell in enumerate(cells)
    )
