"""What a calibration's release says: only its committed, noised numbers are read.

Scales and clip are post-processing of a release that has paid its ε, so reading it costs nothing,
however often it is done.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aggregation.calibration.quantiles import (
    ENOUGH,
    FittedClip,
    FittedScales,
    about,
    fit_clip,
    fit_scales,
)
from aggregation.errors import Problem
from aggregation.mechanisms.slices import slice_names
from aggregation.protocol.anonymization import GroupScaling, Scales
from aggregation.protocol.client_task import Step
from aggregation.protocol.part import Floats
from aggregation.protocol.ranks import Cells
from aggregation.protocol.steps import BUCKETS, ScaledNorm, SliceNorms
from aggregation.release.noised import Noised
from portal.lab.on_devices.selectors import Calibration
from portal.releases.models import Release
from portal.releases.services import recipe_of
from portal.streams.selectors import installed_catalog

KIND = "devices, with differential privacy"


@dataclass(frozen=True)
class Result:
    """A mechanism for the task, and where its numbers come from."""

    mechanism: GroupScaling
    provenance: dict[str, Any]


def scales_from(calibration: Calibration, present: Scales) -> FittedScales:
    """The scales that a release says; slices with few devices keep what is present."""
    norms, release = calibration.step.norms, _released(calibration)
    assert isinstance(norms, SliceNorms)  # noqa: S101 - asked only of these
    names = _slices(calibration.step)
    metrics = calibration.step.metrics
    return fit_scales(
        _counts(release).reshape(len(names), len(metrics), BUCKETS),
        epsilon=_epsilon(calibration),
        slices=names,
        lowest={metric: norms.lowest[metric] for metric in metrics},
        present=present,
    )


def clip_from(calibration: Calibration, *, quantile: float) -> FittedClip:
    release = _released(calibration)
    return fit_clip(_counts(release), epsilon=_epsilon(calibration), quantile=quantile)


def result_from(
    calibration: Calibration, scaled: Calibration | None, *, quantile: float, now: datetime
) -> Result:
    """The mechanism that both releases give; `scaled` is the one its scales were read from."""
    norms = calibration.step.norms
    assert isinstance(norms, ScaledNorm)  # noqa: S101 - asked only of these
    fitted = clip_from(calibration, quantile=quantile)
    scales = _in_order(norms, calibration.step)
    mechanism = GroupScaling(scale_by=norms.by, scales=scales, clip=fitted.clip)
    sources = [one for one in (scaled, calibration) if one is not None]
    provenance = {
        "kind": KIND,
        "date": now.date().isoformat(),
        "releases": [_source(one) for one in sources],
        "fit_quality": {
            "clip_quantile": quantile,
            "devices": about(fitted.devices),
            "epsilon_times_devices": about(_epsilon(calibration) * fitted.devices),
            "needed": ENOUGH,
            "scales": _about_scales(scaled, scales),
        },
    }
    return Result(mechanism, provenance)


def is_read_from(norms: ScaledNorm, scaled: Calibration) -> bool:
    """Whether these are the scales that the release says, wherever it says anything."""
    own = scaled.step.norms
    if scaled.release is None or own.by != norms.by:
        return False
    try:
        fitted = scales_from(scaled, norms.scales)
    except Problem:
        return False
    return fitted.scales == norms.scales


def _slices(step: Step) -> list[str]:
    return slice_names(step.norms.by, Cells.of(step.keys, installed_catalog().domain))


def _in_order(norms: ScaledNorm, step: Step) -> Scales:
    """By slice and metric as the task has them; a client task sorts its fields."""
    return {name: {m: norms.scales[name][m] for m in step.metrics} for name in _slices(step)}


def _about_scales(scaled: Calibration | None, present: Scales) -> str:
    if scaled is None:
        return "as the clip's task states them; from no release"
    fitted = scales_from(scaled, present)
    if not fitted.thin:
        return "95 % quantiles, every slice read"
    places = ", ".join(f"{metric} in {name}" for name, metric in fitted.thin[:6])
    more = f" and {len(fitted.thin) - 6} more" if len(fitted.thin) > 6 else ""
    return f"95 % quantiles; too few devices for {places}{more}, which were not read"


def _source(calibration: Calibration) -> dict[str, str]:
    release = _released(calibration)
    return {
        "task": calibration.task.name,
        "window": release.window.window,
        "epsilon": f"{calibration.revision.epsilon / 100:g}",
        "noised_sha256": release.noised_sha256,
    }


def _released(calibration: Calibration) -> Release:
    if calibration.release is None:
        raise Problem(
            f"{calibration.task.name} has no release yet.",
            hint="Its one window is released when its grace is over.",
        )
    return calibration.release


def _counts(release: Release) -> Floats:
    """Noised devices by cell."""
    noised = Noised.decode(bytes(release.noised))
    counts: Floats = recipe_of(release.window.revision).arithmetic.decode(noised.sums)[:, 0]
    return counts


def _epsilon(calibration: Calibration) -> float:
    return calibration.revision.epsilon / 100
