"""Changing a mechanism in the form: parameters carry over, and every slice gets a number to mend.

The numbers it starts with are guesses from what streams call typical. They are safe, since
parameters move accuracy and never privacy, but they want fitting.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aggregation.compiler import Compiled, compile_spec
from aggregation.errors import Problem
from aggregation.mechanisms.slices import slice_count, slice_names
from aggregation.protocol.ranks import Cells
from aggregation.protocol.spec_reading import spec_from
from aggregation.protocol.spec_text import Document
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit

# Slices that a form can show; more are edited as YAML.
MOST_SLICES = 60
_LISTED_BY = {"group_scaling": "scale_by", "budget_split": "slice_by", "rotated": "by"}
_EVENTS_A_WINDOW = 10.0
# What keys and metrics follow from.
_SHAPING = ("streams", "client_sql", "server_sql", "sql")


def shape_of(document: Mapping[str, Any], catalog: Catalog) -> Compiled | None:
    """The task's keys and metrics, whatever else its document says: its queries alone, compiled
    with the plainest of everything around them."""
    window = document.get("window")
    unit = window.get("unit") if isinstance(window, Mapping) else None
    plain = {
        "name": "shape",
        "window": {"unit": unit if unit in list(Unit) else "week"},
        "anonymization": {"epsilon": 1, "mechanism": {"kind": "joint_clipping", "clip": 1.0}},
    }
    queries = {name: document[name] for name in _SHAPING if name in document}
    try:
        compiled = compile_spec(spec_from(Document({**plain, **queries}, {})), catalog)
    except Problem:
        return None
    return compiled if isinstance(compiled, Compiled) else None


def switched(
    mechanism: Mapping[str, Any], kind: str, shape: Compiled | None, catalog: Catalog
) -> dict[str, Any]:
    """The mechanism as another kind; what the old one had and the new one takes stays."""
    metrics = shape.client_task.metrics if shape else ()
    if kind == "joint_clipping":
        total = sum(_typical(metric, catalog) for metric in metrics)
        return {"kind": kind, "clip": total or _EVENTS_A_WINDOW}
    by = _by(mechanism, shape)
    names = slices(by, shape, catalog)
    if kind not in _LISTED_BY:
        return {**mechanism, "kind": kind}
    if kind == "rotated":
        return {"kind": kind, "by": by, **_unmixed(mechanism, names, metrics, catalog)}
    scales = with_all_slices(mechanism.get("scales"), names, metrics, catalog)
    if not names:  # too many to fill in, or not known yet: nothing is thrown away
        scales = mechanism.get("scales") or {}
    if kind == "budget_split":
        return {"kind": kind, "slice_by": by, "scales": scales}
    # In scaled units: room for each metric to be as large as usual.
    clip = mechanism.get("clip") if mechanism.get("kind") == kind else max(1, len(metrics))
    return {"kind": kind, "scale_by": by, "scales": scales, "clip": clip}


def by_of(mechanism: Mapping[str, Any]) -> list[str]:
    given = mechanism.get(_LISTED_BY.get(str(mechanism.get("kind")), ""), [])
    return [name for name in given if isinstance(name, str)] if isinstance(given, list) else []


def slices(by: Sequence[str], shape: Compiled | None, catalog: Catalog) -> list[str]:
    """The names of the slices by these keys; none where they are no keys or make too many."""
    if shape is None:
        return []
    cells = Cells.of(shape.client_task.keys, catalog.domain)
    if any(name not in cells.names for name in by) or slice_count(by, cells) > MOST_SLICES:
        return []
    return slice_names(by, cells)


def with_all_slices(
    scales: Any, names: Sequence[str], metrics: Sequence[str], catalog: Catalog
) -> dict[str, Any]:
    """Every slice and metric with a scale: the one that is there, else a first guess."""
    old = scales if isinstance(scales, Mapping) else {}
    return {
        name: {
            metric: old[name][metric]
            if isinstance(old.get(name), Mapping) and metric in old[name]
            else _typical(metric, catalog)
            for metric in metrics
        }
        for name in names
    }


def _by(mechanism: Mapping[str, Any], shape: Compiled | None) -> list[str]:
    """The keys of the old slices, or the first key with few values."""
    if "kind" in mechanism and mechanism["kind"] != "joint_clipping":
        return by_of(mechanism)
    keys = shape.client_task.keys if shape else ()
    return [key.name for key in keys if key.count <= MOST_SLICES][:1]


def _unmixed(
    mechanism: Mapping[str, Any], names: Sequence[str], metrics: Sequence[str], catalog: Catalog
) -> dict[str, Any]:
    """What is fitted already; else a basis that only scales, and no correction, to begin with."""
    scales = with_all_slices(mechanism.get("scales"), names, metrics, catalog)
    basis = {name: _diagonal([scales[name][metric] for metric in metrics]) for name in names}
    correction = {name: [1.0] * len(metrics) for name in names}
    return {
        "basis": _kept(mechanism.get("basis"), basis),
        "correction": _kept(mechanism.get("correction"), correction),
    }


def resized(
    mechanism: Mapping[str, Any], what: str, name: str, metrics: Sequence[str]
) -> list[Any] | None:
    """A slice's basis or correction with a place for every metric, unless it has that already:
    what is there stays, the rest neither mixes nor corrects."""
    table = mechanism.get(what)
    old: Any = table.get(name) if isinstance(table, Mapping) else None
    size = len(metrics)
    if what == "correction":
        return None if _has_size(old, size) else _filled(old, [1.0] * size)
    if _has_size(old, size) and all(_has_size(row, size) for row in old):
        return None
    plain = [[float(row == column) for column in range(size)] for row in range(size)]
    rows = old if isinstance(old, list) else []
    return [_filled(rows[at] if at < len(rows) else None, row) for at, row in enumerate(plain)]


def _has_size(value: Any, size: int) -> bool:
    return isinstance(value, list) and len(value) == size


def _filled(old: Any, plain: list[float]) -> list[Any]:
    kept = old[: len(plain)] if isinstance(old, list) else []
    return [*kept, *plain[len(kept) :]]


def _diagonal(sizes: Sequence[Any]) -> list[list[float]]:
    """Each metric over its size, with an equal share of the bound."""
    shares = [1 / (len(sizes) * size) if _is_size(size) else 1.0 for size in sizes]
    return [
        [round(share, 9) if row == column else 0.0 for column in range(len(shares))]
        for row, share in enumerate(shares)
    ]


def _is_size(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 1e-6


def _kept(old: Any, fresh: dict[str, Any]) -> dict[str, Any]:
    """Old entries in the place of fresh ones; all of them where no slices are known."""
    if not isinstance(old, Mapping):
        return fresh
    return {**fresh, **{name: part for name, part in old.items() if name in fresh or not fresh}}


def _typical(metric: str, catalog: Catalog) -> float:
    """What a phone may have of a metric in a window, guessed by a column of the same name."""
    for stream in catalog:
        column = stream.column(metric)
        if column is not None and column.typical is not None:
            return round(column.typical[1] * _EVENTS_A_WINDOW / 2, 2)
    return _EVENTS_A_WINDOW
