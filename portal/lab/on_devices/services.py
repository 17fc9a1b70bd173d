"""Drafts of calibration tasks, and a draft of the task with what they have found.

All three are drafts: a second person decides on each of them, like on everything that runs. Who
wrote what a draft is made of is no second person to it.
"""

from dataclasses import dataclass
from decimal import Decimal
from itertools import count

import msgspec
from django.db import transaction

from aggregation.calibration.quantiles import usual_quantile
from aggregation.clock import Clock
from aggregation.errors import Problem
from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_reading import read_spec
from aggregation.protocol.spec_writing import to_yaml
from aggregation.protocol.steps import ScaledNorm
from portal.accounts.models import Person
from portal.audit.services import Change, record
from portal.lab.on_devices.asking import clip_spec, present_scales, scales_spec
from portal.lab.on_devices.reading import Result, is_read_from, result_from, scales_from
from portal.lab.on_devices.selectors import Calibration, Subject, calibrations_of
from portal.problems import Conflict
from portal.streams.selectors import installed_catalog
from portal.tasks import services as tasks
from portal.tasks.drafting import note_writers
from portal.tasks.editor_document import Edit, with_edits
from portal.tasks.models import Draft, Task
from portal.tasks.provenance import note_provenance
from portal.tasks.selectors import editors_of

_LONGEST = 64


def ask_for_scales(
    *, subject: Subject, by: tuple[str, ...], epsilon: Decimal, actor: Person, clock: Clock
) -> Task:
    """The draft of the first task."""
    name = _free_name(subject.task.name, "scales")
    spec = scales_spec(subject.spec, installed_catalog(), name=name, by=by, epsilon=epsilon)
    return _drafted(spec, out_of=[subject.task], actor=actor, clock=clock)


def ask_for_clip(
    *, subject: Subject, scaled: Calibration, epsilon: Decimal, actor: Person, clock: Clock
) -> Task:
    """The draft of the second task, in units of what the first one's release says."""
    by = scaled.step.norms.by
    scales = scales_from(scaled, present_scales(subject.spec, by)).scales
    spec = clip_spec(
        subject.spec,
        name=_free_name(subject.task.name, "clip"),
        norms=ScaledNorm(by=by, scales=scales),
        epsilon=epsilon,
        source=f"the {scaled.release}",
    )
    return _drafted(spec, out_of=[subject.task, scaled.task], actor=actor, clock=clock)


@dataclass(frozen=True)
class Put:
    """The task's draft has the mechanism."""

    version: int
    result: Result


@transaction.atomic
def put_into_draft(
    *, subject: Subject, clipped: Calibration, quantile: float, actor: Person, clock: Clock
) -> Put:
    """Write what both releases give into the task's draft.

    What the draft said of clip uncertainty was of other parameters, and is taken out. The scales
    are those that the clip's task states, so whoever wrote in that has written here.
    """
    result = result_of(subject, clipped, quantile=quantile, clock=clock)
    draft = Draft.objects.get(task=subject.task)
    mechanism = msgspec.to_builtins(result.mechanism)
    changes = [
        Edit(("anonymization", "mechanism"), mechanism),
        Edit(("anonymization", "clip_uncertainty"), None),
    ]
    text = with_edits(draft.text, changes)
    saved = tasks.save_draft(
        task=subject.task, text=text, base_version=draft.version, actor=actor, clock=clock
    )
    if isinstance(saved, tasks.Stale):
        raise Conflict("Somebody saved the draft just now.", hint="Look at it, and try again.")
    note_writers(task=subject.task, people=editors_of(clipped.task), actor=actor, clock=clock)
    told = [Change("clip", None, clipped.task.name)]
    record(action="task.calibrated", subject=subject.task, actor=actor, clock=clock, changes=told)
    note_provenance(
        task=subject.task,
        mechanism=read_spec(text).anonymization.mechanism,
        facts=result.provenance,
        actor=actor,
        clock=clock,
    )
    return Put(saved.version, result)


def result_of(subject: Subject, clipped: Calibration, *, quantile: float, clock: Clock) -> Result:
    norms = clipped.step.norms
    if not isinstance(norms, ScaledNorm):
        raise Problem(f"{clipped.task.name} tells scales, and no clip.", hint="Ask for the clip.")
    of_scales = (one for one in calibrations_of(subject) if one.is_of_scales)
    scaled = next((one for one in of_scales if is_read_from(norms, one)), None)
    return result_from(clipped, scaled, quantile=quantile, now=clock.now())


def usual_quantile_for(spec: Spec) -> float:
    return usual_quantile(float(spec.anonymization.epsilon))


@transaction.atomic
def _drafted(spec: Spec, *, out_of: list[Task], actor: Person, clock: Clock) -> Task:
    task = tasks.create_task(name=spec.name, text=to_yaml(spec), actor=actor, clock=clock)
    for source in out_of:
        note_writers(task=task, people=editors_of(source), actor=actor, clock=clock)
    return task


def _free_name(name: str, what: str) -> str:
    """weekly-trips-scales, or with the next number that is not taken."""
    taken = set(Task.objects.values_list("name", flat=True))
    ends = (f"-{what}" if number == 1 else f"-{what}-{number}" for number in count(1))
    names = (name[: _LONGEST - len(end)].rstrip("-") + end for end in ends)
    return next(made for made in names if made not in taken)
