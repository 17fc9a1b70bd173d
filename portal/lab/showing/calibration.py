"""A calibration: the parameters of a mechanism, how well they fit, and where they come from."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Calibration:
    """The document of `portal.lab.calibrating`, as plain values."""

    result: dict[str, Any]

    @property
    def mechanism(self) -> dict[str, Any]:
        found: dict[str, Any] = self.result["mechanism"]
        return found

    @property
    def provenance(self) -> dict[str, Any]:
        found: dict[str, Any] = self.result["provenance"]
        return found

    @property
    def metrics(self) -> list[str]:
        return list(self.result["metrics"])

    @property
    def quality(self) -> list[tuple[str, float]]:
        """Expected errors in percent, by metric."""
        by_metric = self.provenance["quality"]["by_metric"]
        return [(metric, 100 * by_metric[metric]) for metric in self.metrics]

    @property
    def mean(self) -> float:
        return 100 * float(self.provenance["quality"]["mean"])

    @property
    def best_scaling(self) -> float:
        return 100 * float(self.provenance["quality"]["best_scaling"])

    @property
    def clip(self) -> float | None:
        return self.mechanism.get("clip")

    @property
    def scales(self) -> list[tuple[str, list[float]]]:
        """Slice by slice, in the order of the metrics."""
        found = self.mechanism.get("scales", {})
        return [(name, [sizes[metric] for metric in self.metrics]) for name, sizes in found.items()]

    @property
    def rotations(self) -> list[tuple[str, list[list[float]], list[float]]]:
        """Slice by slice: the basis, row by row, and the correction of each metric."""
        basis, correction = self.mechanism.get("basis", {}), self.mechanism.get("correction", {})
        return [(name, rows, correction[name]) for name, rows in basis.items()]
