"""Rules on a built-in step: it stands on keys and metrics of the query, and counts devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from aggregation.compiler import bounds
from aggregation.compiler.derive import Coordinate, Derivation
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard.plan import Plan
from aggregation.compiler.tree import Aggregate
from aggregation.mechanisms.norms import problems
from aggregation.protocol.anonymization import JointClipping
from aggregation.protocol.client_task import Step
from aggregation.protocol.ranks import Cells
from aggregation.protocol.steps import BUCKETS, Norms


@dataclass(frozen=True)
class Stepped:
    """A step, and what the queries before it come to."""

    plan: Plan
    norms: Norms

    @property
    def step(self) -> Step:
        return Step(keys=self.plan.keys, metrics=self.plan.metrics, norms=self.norms)

    @cached_property
    def made(self) -> Plan | None:
        """The plan of what leaves the device; nothing where the step slices by no key."""
        if not set(self.norms.by) <= {key.name for key in self.plan.keys}:
            return None
        step = self.step
        counted = [Coordinate(m, Aggregate("count", None), hidden=False) for m in step.made_metrics]
        return replace(self.plan, keys=step.made_keys, derivation=Derivation(counted))


StepRule = Callable[[Stepped], Iterator[Finding]]


def step_numbers(stepped: Stepped) -> Iterator[Finding]:
    """Slices are made of keys; every slice and metric has the number that the step needs."""
    plan = stepped.plan
    if plan.cells > bounds.MAX_CELLS:
        return
    cells = Cells.of(plan.keys, plan.catalog.domain)
    for found in problems(stepped.norms, cells, plan.metrics):
        yield Finding(found.message, found.hint, part=f"step.{found.field}")


def step_bound(stepped: Stepped) -> Iterator[Finding]:
    """A device counts as one, over all its buckets: other bounds would count nothing."""
    given = stepped.plan.spec.anonymization.mechanism
    if given != JointClipping(clip=1.0):
        message = "A step counts each device once, so it is bounded jointly at 1."
        hint = "Write `mechanism: {kind: joint_clipping, clip: 1}`."
        yield Finding(message, hint, part="anonymization.mechanism")


def step_rows(stepped: Stepped) -> Iterator[Finding]:
    """No device has to leave a slice out: which one would depend on its place in the domain."""
    if stepped.made is None:  # `step_numbers` has said why
        return
    made = stepped.made.cells // BUCKETS
    given = stepped.plan.spec.aggregation.max_rows
    if made > bounds.MAX_ROWS:
        message = f"The step makes up to {made:,} rows; at most {bounds.MAX_ROWS:,} are sent."
        yield Finding(message, "Slice by columns with smaller domains.", part="step.by")
    elif given < made:
        message = f"The step makes up to {made:,} rows, and max_rows is {given:,}."
        yield Finding(message, f"Write `max_rows: {made}`.", part="aggregation.max_rows")


def step_alone(stepped: Stepped) -> Iterator[Finding]:
    """What comes out is no longer what the query computed."""
    spec = stepped.plan.spec
    if spec.anonymization.clip_uncertainty is not None:
        message = "After a step there is nothing for a clip uncertainty to describe."
        yield Finding(message, "Leave it out.", part="anonymization.clip_uncertainty")
    if spec.post_processing is not None:
        message = "After a step there is nothing to compute from: it counts devices."
        yield Finding(message, "Leave post_processing out.", part="post_processing")


RULES: Final[tuple[StepRule, ...]] = (step_numbers, step_bound, step_rows, step_alone)
