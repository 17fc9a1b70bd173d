"""Which calibration tasks ask a task's own question, and what became of them.

No table says so: a calibration belongs to a task if devices run the same query for both, over the
same cells and metrics. So what its release tells is of the very numbers that the task bounds.
"""

from dataclasses import dataclass
from typing import Final

import msgspec

from aggregation.errors import Problem
from aggregation.protocol.client_task import ClientTask, Step
from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_reading import read_spec
from aggregation.protocol.steps import SliceNorms
from portal.lab.on_devices.asking import query_of
from portal.releases.models import Release
from portal.streams.selectors import installed_catalog
from portal.tasks.models import Draft, Revision, Task

_HAS_STEP: Final = r"kind: (slice_norms|scaled_norm)"
_MOST_LISTED: Final = 30


@dataclass(frozen=True)
class Calibration:
    """A submitted calibration task; its release where there is one."""

    task: Task
    revision: Revision
    step: Step
    release: Release | None

    @property
    def is_of_scales(self) -> bool:
        return isinstance(self.step.norms, SliceNorms)


@dataclass(frozen=True)
class Subject:
    """A task that may be calibrated, as its draft has it now."""

    task: Task
    spec: Spec
    query: ClientTask


def subject_of(task: Task) -> Subject:
    spec = read_spec(Draft.objects.get(task=task).text)
    if spec.step is not msgspec.UNSET:
        raise Problem(
            f"{task.name} calibrates another task itself.", hint="Open the task it calibrates."
        )
    return Subject(task, spec, query_of(spec, installed_catalog()))


def calibrations_of(subject: Subject) -> list[Calibration]:
    """The newest revision of each, those that were submitted last first."""
    rows = Revision.objects.filter(client_task_json__contains='"step":{"keys"')
    newest: dict[int, Revision] = {}
    for revision in rows.select_related("task").order_by("-submitted_at", "-pk"):
        newest.setdefault(revision.task_id, revision)
    found = (_calibration(revision, subject.query) for revision in newest.values())
    return [one for one in found if one is not None]


def askable() -> list[Task]:
    """Tasks whose sizes phones could tell: alive, and no calibrations themselves."""
    alive = Task.objects.exclude(state=Task.State.ENDED).filter(draft__isnull=False)
    return list(alive.exclude(draft__text__regex=_HAS_STEP).order_by("name")[:_MOST_LISTED])


def drafts_of(subject: Subject) -> list[Task]:
    """Calibration tasks that were not submitted yet."""
    texts = Draft.objects.filter(text__regex=_HAS_STEP)
    unsent = texts.filter(task__revisions=None).exclude(task__state=Task.State.ENDED)
    drafts = unsent.select_related("task").order_by("-changed_at")
    return [draft.task for draft in drafts if _asks(draft.text, subject.query)]


def _calibration(revision: Revision, query: ClientTask) -> Calibration | None:
    task = msgspec.json.decode(revision.client_task_json, type=ClientTask)
    if task.step is msgspec.UNSET or _question(task) != _question(query):
        return None
    releases = Release.objects.filter(window__revision=revision)
    release = releases.select_related("window__task", "window__revision").first()
    return Calibration(revision.task, revision, task.step, release)


def _asks(text: str, query: ClientTask) -> bool:
    try:
        return _question(query_of(read_spec(text), installed_catalog())) == _question(query)
    except Problem:  # half written
        return False


def _question(task: ClientTask) -> tuple[object, ...]:
    """What devices compute, before any step."""
    made = task if task.step is msgspec.UNSET else task.step
    return (task.sql, made.keys, made.metrics, task.window_unit, task.streams)
