"""A comparison as text: a table for each ε, with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from portal.lab.comparing.paper import PAPER_EPSILON

_NAMES = {
    "joint_clipping": "Joint Clipping",
    "budget_split": "Budget Split",
    "group_scaling_q98": "Group Scaling, C = q98",
    "group_scaling_grid": "Group Scaling, C by grid",
    "rotated": "Rotated + ρ",
}
_METRICS = ("num_trips", "distance_km", "duration_min")


def lines(result: dict[str, Any]) -> Iterator[str]:
    for found in result["results"]:
        yield f"ε = {found['epsilon']:g}: weighted relative error on other geographies"
        yield _row("", (*_METRICS, "mean"), "", "paper")
        for name, errors in found["mechanisms"].items():
            figures = [f"{errors[metric]:.4f}" for metric in (*_METRICS, "mean")]
            mark = "≤ 3 %" if errors["mean"] <= result["target"] else ""
            beside = _paper(result["paper"].get(name), found["epsilon"])
            yield _row(_NAMES[name], figures, mark, beside)
        yield ""


def _paper(figures: dict[str, float] | None, epsilon: float) -> str:
    if figures is None or epsilon != PAPER_EPSILON:
        return ""
    return "/".join(f"{figures[metric]:.3f}" for metric in _METRICS)


def _row(name: str, figures: Any, mark: str, beside: str) -> str:
    return (
        name.ljust(26) + "".join(f.rjust(14) for f in figures) + f"  {mark:6} {beside}"
    ).rstrip()
