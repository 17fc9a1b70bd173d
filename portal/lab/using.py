"""A calibration put into a draft: the draft's mechanism is replaced, and where its numbers come
from is noted, so that whoever reviews the draft sees it."""

from dataclasses import dataclass
from functools import lru_cache

import msgspec
from django.db import transaction

from aggregation.clock import Clock
from aggregation.compiler import Compiled, compile_spec
from aggregation.errors import Problem
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.spec_reading import read_spec
from aggregation.protocol.streams import Catalog
from portal.accounts.models import Person, Role
from portal.audit.services import Change, record
from portal.lab.models import Study
from portal.problems import Conflict
from portal.streams.selectors import installed_catalog
from portal.tasks import services as tasks
from portal.tasks.drafting import note_writers
from portal.tasks.editor_document import Edit, with_edits
from portal.tasks.models import Draft, Task
from portal.tasks.provenance import note_provenance
from portal.tasks.rights import require_role

# Drafts that are looked at, those changed last.
_MOST = 20


@dataclass(frozen=True)
class Fits:
    """A draft, and why the calibration cannot be used for it; nothing if it can."""

    task: Task
    reasons: tuple[str, ...]


def drafts_for(*, study: Study, person: Person) -> list[Fits]:
    """The person's own drafts, those that fit first."""
    catalog = installed_catalog()
    rows = Draft.objects.select_related("task").exclude(task__state=Task.State.ENDED)
    own = rows.filter(task__editors__person=person) | rows.filter(task__created_by=person)
    latest = own.distinct().order_by("-changed_at")[:_MOST]
    found = [Fits(draft.task, _reasons(study, draft.text, catalog)) for draft in latest]
    return sorted(found, key=lambda one: bool(one.reasons))


@transaction.atomic
def put_into_draft(*, study: Study, task: Task, actor: Person, clock: Clock) -> int:
    """The draft's new version. What it said of clip uncertainty was of other parameters: the
    calibration's own takes its place, or nothing. Numbers that were loaded are whatever their
    loader chose, who has written in the draft by that."""
    require_role(actor, Role.ANALYST)
    draft = Draft.objects.get(task=task)
    for reason in _reasons(study, draft.text, installed_catalog()):
        raise Problem(reason, hint=f"Calibrate {task.name} itself.")
    result = study.result or {}
    changes = [
        Edit(("anonymization", "mechanism"), result["mechanism"]),
        Edit(("anonymization", "clip_uncertainty"), result.get("clip_uncertainty")),
    ]
    text = with_edits(draft.text, changes)
    saved = tasks.save_draft(
        task=task, text=text, base_version=draft.version, actor=actor, clock=clock
    )
    if isinstance(saved, tasks.Stale):
        raise Conflict("Somebody saved the draft just now.", hint="Look at it, and try again.")
    if study.is_loaded:
        note_writers(task=task, people=[study.asked_by], actor=actor, clock=clock)
    _note(study, task, text, actor, clock)
    return saved.version


def made_where(study: Study) -> str:
    """For the reviewer: what was loaded says of itself what its maker wrote."""
    if study.is_loaded:
        who = study.asked_by.username
        return f"elsewhere; loaded by {who} as study {study.pk}, and not computed here"
    return f"in this lab, as study {study.pk}"


def _note(study: Study, task: Task, text: str, actor: Person, clock: Clock) -> None:
    mechanism = read_spec(text).anonymization.mechanism
    facts = {**(study.result or {})["provenance"], "study": study.pk, "made": made_where(study)}
    note_provenance(task=task, mechanism=mechanism, facts=facts, actor=actor, clock=clock)
    used = [Change("task", None, task.name)]
    record(action="study.used", subject=study, actor=actor, clock=clock, changes=used)


def _reasons(study: Study, text: str, catalog: Catalog) -> tuple[str, ...]:
    from portal.lab.calibrating import load_fitted, misfits

    if study.kind != Study.Kind.CALIBRATION or study.result is None:
        return ("The study is no calibration with a result.",)
    try:
        compiled = compile_spec(read_spec(text), catalog)
    except Problem as problem:
        return (f"Its draft cannot be read: {problem.message}",)
    if not isinstance(compiled, Compiled):
        return (f"Its draft is refused: {compiled.diagnostics[0].message}",)
    if not study.is_loaded and not _is_for(study, compiled.client_task, catalog):
        return ("It was fitted for another query, or for another number of rows.",)
    fitted = load_fitted(msgspec.json.encode(study.result))
    return tuple(misfits(fitted, compiled.server_config, catalog.domain))


def _is_for(study: Study, task: ClientTask, catalog: Catalog) -> bool:
    """Whether its numbers are of what phones compute for this task, and of as many rows as it takes
    of each. Who asks for a study writes the query that it runs: another one with the same keys and
    metrics gives whatever numbers they like, and who wrote that is no editor of the draft.
    """
    fitted = _fitted_for(study.parameters["task"], catalog)
    return fitted is not None and _computed(fitted) == _computed(task)


@lru_cache(maxsize=4)
def _fitted_for(named: str, catalog: Catalog) -> ClientTask | None:
    """Asked for each draft of a page."""
    from portal.lab.calibrating.parameters import named_spec

    try:
        compiled = compile_spec(named_spec(named), catalog)
    except Problem:  # a starting point that is no more
        return None
    return compiled.client_task if isinstance(compiled, Compiled) else None


def _computed(task: ClientTask) -> tuple[object, ...]:
    return (task.sql, task.window_unit, task.streams, task.max_rows)
