"""Rules on queries and fields together: cells, metrics, scales, published columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Final

from aggregation.compiler import bounds
from aggregation.compiler.derive import Derivation
from aggregation.compiler.diagnostics import Finding
from aggregation.mechanisms import problems
from aggregation.protocol.anonymization import ClipTerms
from aggregation.protocol.client_task import Key
from aggregation.protocol.spec import Spec, decimal_text
from aggregation.protocol.streams import Catalog
from aggregation.protocol.update_layout import MAX_LENGTH, Shape, length


@dataclass(frozen=True)
class Plan:
    """What both queries come to, beside the spec they stand in."""

    spec: Spec
    catalog: Catalog
    keys: tuple[Key, ...]
    derivation: Derivation

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.derivation.coordinates)

    @property
    def published(self) -> tuple[str, ...]:
        """The columns of a release after the keys and the window."""
        shown = tuple(c.name for c in self.derivation.coordinates if not c.hidden)
        return (*shown, *(d.name for d in self.derivation.derived))

    @property
    def cells(self) -> int:
        return prod(key.count for key in self.keys)


PlanRule = Callable[[Plan], Iterator[Finding]]


def cells(plan: Plan) -> Iterator[Finding]:
    """Every cell is noised at every release, so their number is a cost."""
    shape = " × ".join(f"{k.count:,} {k.name}" for k in plan.keys)
    hint = "Group by fewer or smaller columns, or bucket them with CASE."
    if plan.cells > bounds.MAX_CELLS:
        message = f"The keys make {plan.cells:,} cells ({shape}); at most {bounds.MAX_CELLS:,}."
        yield Finding(message, hint)
    elif plan.cells * len(plan.metrics) > bounds.MAX_STATISTICS:
        message = f"{plan.cells:,} cells × {len(plan.metrics)} metrics make more than "
        yield Finding(f"{message}{bounds.MAX_STATISTICS:,} statistics.", hint)


def columns(plan: Plan) -> Iterator[Finding]:
    if len(plan.keys) > bounds.MAX_KEYS:
        message = f"There are {len(plan.keys)} keys; at most {bounds.MAX_KEYS}."
        yield Finding(message, "Group by fewer columns.")
    if len(plan.metrics) > bounds.MAX_METRICS:
        message = f"There are {len(plan.metrics)} metrics, hidden ones included; at most "
        yield Finding(f"{message}{bounds.MAX_METRICS}.", "Make several tasks.")


def update_size(plan: Plan) -> Iterator[Finding]:
    """One window fits into one upload: updates are padded, so all of them have this size."""
    rows, metrics = plan.spec.aggregation.max_rows, len(plan.metrics)
    if not 1 <= rows <= bounds.MAX_ROWS or not 1 <= metrics <= bounds.MAX_METRICS:
        return
    size = length(Shape(plan.spec.window.unit, rows, metrics), 1)
    if size > MAX_LENGTH:
        message = f"{rows:,} rows of {metrics} metrics are {size:,} bytes for each window; at most "
        hint = "Lower max_rows, or make several tasks."
        yield Finding(f"{message}{MAX_LENGTH:,} can be sent.", hint, part="aggregation.max_rows")


def mechanism(plan: Plan) -> Iterator[Finding]:
    """The mechanism's own validity: every slice and metric has its scale, all finite."""
    if plan.cells > bounds.MAX_CELLS:
        return
    hidden = {c.name: c.needed_for for c in plan.derivation.coordinates if c.hidden}
    given = plan.spec.anonymization.mechanism
    for found in problems(given, plan.keys, plan.metrics, plan.catalog.domain):
        last = found.field.rpartition(".")[2]
        hint = found.hint
        if last in hidden:
            hint += f" {last} is a hidden coordinate: {hidden[last]} is derived from it."
        path = f"anonymization.mechanism.{found.field}"
        yield Finding(found.message, hint.strip(), part=path)


def suppression_metrics(plan: Plan) -> Iterator[Finding]:
    given = plan.spec.anonymization.suppression.metrics
    listed = () if given == "all" else ((given,) if isinstance(given, str) else given)
    for metric in listed:
        if metric not in plan.metrics:
            message = f"suppression.metrics names {metric[:60]!r}, which is no metric."
            hint = f"Metrics are {', '.join(plan.metrics)}."
            yield Finding(message, hint, part="anonymization.suppression.metrics")
    if given != "all" and not listed:
        message, hint = "suppression.metrics is empty.", "Write `metrics: all`."
        yield Finding(message, hint, part="anonymization.suppression.metrics")


def clip_uncertainty(plan: Plan) -> Iterator[Finding]:
    """Terms for every metric, each within its bounds, and a source that a reader can follow."""
    given, path = plan.spec.anonymization.clip_uncertainty, "anonymization.clip_uncertainty"
    if given is None:
        return
    known = f"Metrics are {', '.join(plan.metrics)}."
    if given.count not in plan.metrics:
        message = f"clip_uncertainty.count names {given.count[:60]!r}, which is no metric."
        yield Finding(message, f"Name the one that counts events. {known}", part=f"{path}.count")
    for metric in [m for m in plan.metrics if m not in given.metrics]:
        message = f"clip_uncertainty has no terms for {metric}."
        yield Finding(message, f"Add `{metric}: {{random: …}}`.", part=f"{path}.metrics")
    for metric, terms in given.metrics.items():
        if metric not in plan.metrics:
            message = f"clip_uncertainty names {metric[:60]!r}, which is no metric."
            yield Finding(message, known, part=f"{path}.metrics.{metric[:60]}")
        yield from _out_of_bounds(terms, f"{path}.metrics.{metric[:60]}")
    if not 0 < len(given.source.strip()) <= bounds.MAX_SOURCE or not given.source.isprintable():
        message = f"clip_uncertainty.source has to be one line of 1 to {bounds.MAX_SOURCE} letters."
        yield Finding(message, "Say where the numbers come from.", part=f"{path}.source")


def _out_of_bounds(terms: ClipTerms, path: str) -> Iterator[Finding]:
    for term in ClipTerms.__struct_fields__:
        value = getattr(terms, term)
        most = bounds.MAX_RANDOM_CLIP if term == "random" else 1
        if not value.is_finite() or not 0 <= value <= most:
            message = f"{term} is {decimal_text(value)[:40]}; use 0 to {most}."
            yield Finding(message, "Fit it on proxy or public data.", part=f"{path}.{term}")


def publish_columns(plan: Plan) -> Iterator[Finding]:
    given = plan.spec.publish.columns
    known = (*(k.name for k in plan.keys), *plan.published)
    for column in given or ():
        if column not in known:
            message = f"publish.columns names {column[:60]!r}, which is no column of the result."
            yield Finding(message, f"Columns are {', '.join(known)}.", part="publish.columns")
    if given and set(given) <= {k.name for k in plan.keys}:
        message = "publish.columns names keys alone: no number would be shown."
        hint = f"Add one of {', '.join(plan.published)}."
        yield Finding(message, hint, part="publish.columns")
    if given is not None and (not given or len(set(given)) < len(given)):
        message = "publish.columns is empty, or names a column twice."
        yield Finding(message, "Leave it out to publish all columns.", part="publish.columns")


def emissions_columns(plan: Plan) -> Iterator[Finding]:
    """Emissions are computed from kilometres by activity."""
    if plan.spec.post_processing != "emissions":
        return
    has_key = any(k.name == "activity" and k.values is None for k in plan.keys)
    if not has_key or "distance_km" not in plan.published:
        message = "Emissions need the key activity and the metric distance_km."
        yield Finding(message, "Add them, or leave post_processing out.", part="post_processing")


RULES: Final[tuple[PlanRule, ...]] = (
    cells,
    columns,
    update_size,
    mechanism,
    suppression_metrics,
    clip_uncertainty,
    publish_columns,
    emissions_columns,
)
