"""A comparison of mechanisms, as the paper shows it: its figure (a) and its table (b)."""

from dataclasses import dataclass
from typing import Any

from portal.charts import Line, Mark, fitted, timeline
from portal.lab.comparing.paper import PAPER_EPSILON

METRICS = {"num_trips": "Trips", "distance_km": "Distance", "duration_min": "Duration"}
NAMES = {
    "joint_clipping": "Joint Clipping",
    "budget_split": "Budget Split",
    "group_scaling_q98": "Group Scaling, q98",
    "group_scaling_grid": "Group Scaling, grid",
    "rotated": "Rotated + ρ",
}


@dataclass(frozen=True)
class Row:
    """One mechanism at the paper's ε: for each metric ours and the paper's, where it has one, in
    percent."""

    name: str
    errors: list[tuple[float, float | None]]
    mean: float
    holds_target: bool


@dataclass(frozen=True)
class Shown:
    result: dict[str, Any]

    @property
    def metrics(self) -> list[str]:
        return list(METRICS.values())

    @property
    def target_percent(self) -> float:
        return 100 * float(self.result["target"])

    @property
    def has_figure(self) -> bool:
        return len(self.result["results"]) > 1

    @property
    def figure(self) -> str:
        return fitted(self._svg, wide=880)

    @property
    def table_epsilon(self) -> float:
        """The paper's, or the nearest there is."""
        return float(self._at_table["epsilon"])

    @property
    def is_paper_s(self) -> bool:
        return self.table_epsilon == PAPER_EPSILON

    @property
    def rows(self) -> list[Row]:
        return [_row(name, errors, self.result) for name, errors in self._mechanisms.items()]

    @property
    def by_epsilon(self) -> list[tuple[str, list[float]]]:
        """The figure's numbers: each mechanism's mean error at every ε, in percent."""
        return [(NAMES[name], self._means(name)) for name in self._mechanisms]

    @property
    def epsilons(self) -> list[float]:
        return [found["epsilon"] for found in self.result["results"]]

    @property
    def _at_table(self) -> dict[str, Any]:
        found: list[dict[str, Any]] = self.result["results"]
        return min(found, key=lambda one: abs(one["epsilon"] - PAPER_EPSILON))

    @property
    def _mechanisms(self) -> dict[str, dict[str, float]]:
        errors: dict[str, dict[str, float]] = self._at_table["mechanisms"]
        return errors

    def _means(self, name: str) -> list[float]:
        return [100 * found["mechanisms"][name]["mean"] for found in self.result["results"]]

    def _svg(self, width: int) -> str:
        lines = [
            Line(NAMES[name], tuple(Mark(mean) for mean in self._means(name)))
            for name in self._mechanisms
        ]
        needed = Line(
            f"{self.target_percent:g} % needed",
            tuple(Mark(self.target_percent) for _ in self.epsilons),
        )
        labels = [f"ε = {epsilon:g}" for epsilon in self.epsilons]
        title = "Mean weighted relative error by ε"
        return timeline(
            labels, [*lines, needed], title=title, unit="%", width=width, height=380,
            heading=False, log=True,
        )  # fmt: skip


def _row(name: str, errors: dict[str, float], result: dict[str, Any]) -> Row:
    paper = result["paper"].get(name, {})
    beside = [(100 * errors[metric], _percent(paper.get(metric))) for metric in METRICS]
    return Row(NAMES[name], beside, 100 * errors["mean"], errors["mean"] <= result["target"])


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction
