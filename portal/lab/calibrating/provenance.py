"""Where a mechanism's numbers come from: what a reviewer reads beside them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aggregation.protocol.anonymization import ClipUncertainty, Mechanism

Kind = Literal["simulated", "public", "declared proxy"]


class Quality(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Expected weighted relative error at the ε of the fit, in the code of phones."""

    by_metric: dict[str, float]
    mean: float
    # The same of Group Scaling with the best clip bound: what a fit has to beat.
    best_scaling: float
    # Whether it was measured on other people than those it was fitted on.
    on_others: bool
    # Devices that a cell has at least to be measured.
    least_devices: int


class Provenance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the numbers were fitted on, when, and how well."""

    kind: Kind
    # In a sentence for people.
    source: str
    # Of the data, or of what a simulated population is made from.
    data_sha256: str
    # Of a simulated population.
    seed: int | None
    # ISO 8601, UTC.
    date: str
    # Two significant digits, 0 below 1000.
    devices: int
    window: str
    epsilon: float
    # The name of the fit: `rotated`, `group_scaling_grid` …
    fit: str
    quality: Quality
    # By slice: each metric per event. From later releases' own ratios one sees whether they moved.
    per_event: dict[str, dict[str, float]]


class Fitted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The document that `manage.py calibrate` writes and the portal loads."""

    version: Literal[1] = 1
    # Name, and hash of the domain, of each key: in the order of the task.
    keys: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]
    mechanism: Mechanism
    # For intervals; None where the proxy data is too little to tell.
    clip_uncertainty: ClipUncertainty | None = None
    provenance: Provenance

    def plain(self) -> dict[str, Any]:
        """As JSON has it, decimals as numbers."""
        found: dict[str, Any] = msgspec.json.decode(_ENCODER.encode(self))
        return found


_ENCODER = msgspec.json.Encoder(decimal_format="number")
