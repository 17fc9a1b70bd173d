"""What the page shows of each calibration: how far it is, and what its release says."""

from collections.abc import Sequence
from dataclasses import dataclass

from aggregation.calibration.quantiles import FittedClip, FittedScales, about
from aggregation.errors import Problem
from portal.lab.on_devices.asking import present_scales
from portal.lab.on_devices.reading import clip_from, scales_from
from portal.lab.on_devices.selectors import Calibration, Subject
from portal.releases.models import Release
from portal.tasks.models import Revision, Task, TaskWindow


@dataclass(frozen=True)
class Shown:
    """One calibration with what its release says, or why it says nothing."""

    calibration: Calibration
    window: TaskWindow | None
    scales: FittedScales | None = None
    clip: FittedClip | None = None
    problem: Problem | None = None

    @property
    def task(self) -> Task:
        return self.calibration.task

    @property
    def revision(self) -> Revision:
        return self.calibration.revision

    @property
    def release(self) -> Release | None:
        return self.calibration.release

    @property
    def devices(self) -> str:
        fitted = self.scales or self.clip
        return about(fitted.devices) if fitted else ""

    @property
    def clip_words(self) -> str:
        return f"{self.clip.clip:g}" if self.clip else ""

    @property
    def metrics(self) -> Sequence[str]:
        return self.calibration.step.metrics

    @property
    def rows(self) -> list[tuple[str, list[tuple[str, bool]]]]:
        """Slices with the scale of each metric, and whether the release told it."""
        if self.scales is None:
            return []
        thin = set(self.scales.thin)
        return [
            (name, [(f"{sizes[m]:g}", (name, m) not in thin) for m in self.metrics])
            for name, sizes in self.scales.scales.items()
        ]


def shown(calibration: Calibration, subject: Subject, *, quantile: float) -> Shown:
    window = calibration.revision.windows.order_by("-start").first()
    if calibration.release is None:
        return Shown(calibration, window)
    try:
        if calibration.is_of_scales:
            present = present_scales(subject.spec, calibration.step.norms.by)
            return Shown(calibration, window, scales=scales_from(calibration, present))
        return Shown(calibration, window, clip=clip_from(calibration, quantile=quantile))
    except Problem as problem:
        return Shown(calibration, window, problem=problem)
