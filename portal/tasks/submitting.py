"""Putting a draft, or the return of a paused task, before a second person."""

from decimal import Decimal

import msgspec
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Max

from aggregation.clock import Clock
from aggregation.errors import Problem
from aggregation.protocol.windows import Unit
from portal.accounts.models import Person, Role
from portal.audit.services import move, record
from portal.problems import Conflict
from portal.tasks import telling
from portal.tasks.contents import Content, content_of
from portal.tasks.drafting import note_editor, note_writers
from portal.tasks.judging import over_cap, weekly_cap
from portal.tasks.locking import locked_alive
from portal.tasks.models import Draft, Editor, Revision, Task
from portal.tasks.planning import has_step
from portal.tasks.provenance import provenance_of
from portal.tasks.rights import require_role
from portal.tasks.selectors import last_approved, revision_in_review


def submit(*, task: Task, version: int, actor: Person, clock: Clock) -> Revision:
    """Freeze the draft as a revision in review. Whatever was in review before is replaced by it.

    The version is the one the actor has seen: a draft that somebody changed since is not theirs
    to submit. Raises Problem with the compiler's reason if the draft is refused, and where its ε
    alone is over the weekly cap.
    """
    require_role(actor, Role.ANALYST)
    draft = Draft.objects.select_related("task").get(task=task)
    _refuse_other_version(draft, version)
    content = content_of(draft.text, name=draft.task.name)
    with transaction.atomic():
        task = locked_alive(task)
        _refuse_other_version(Draft.objects.get(task=task), version)
        _refuse_other_ground(task, content)
        _refuse_same_content(task, content)
        _refuse_over_cap(content)
        return _freeze(task, content, version=version, actor=actor, clock=clock)


@transaction.atomic
def resume_request(*, task: Task, actor: Person, clock: Clock) -> Revision:
    """Ask that a paused task runs again. It is a revision like any other, with the content that
    was approved before: a second person approves it, for later windows only."""
    require_role(actor, Role.ANALYST)
    task = locked_alive(task)
    if task.state != Task.State.PAUSED:
        raise Conflict(
            f"The task {task.name} is {task.get_state_display().lower()}, not paused.",
            hint="Only a paused task can be resumed.",
        )
    approved = last_approved(task)
    assert approved is not None  # noqa: S101 - a task that was never approved was never paused
    content = content_of(approved.spec_text, name=task.name)
    _refuse_over_cap(content)
    version = approved.draft_version
    return _freeze(task, content, version=version, actor=actor, clock=clock, resumes=True)


@transaction.atomic
def withdraw(*, revision: Revision, actor: Person, clock: Clock) -> None:
    """Take a revision out of review: its author and the task's editors may."""
    require_role(actor, Role.ANALYST)
    locked_alive(revision.task)
    revision.refresh_from_db()
    if not Editor.objects.filter(task_id=revision.task_id, person=actor).exists():
        raise PermissionDenied("Only those who have written in a task withdraw it from review.")
    refuse_decided(revision)
    state = Revision.State.WITHDRAWN
    move(revision, to=state, actor=actor, clock=clock, decided_at=clock.now())


def refuse_decided(revision: Revision) -> None:
    if revision.state != Revision.State.IN_REVIEW:
        raise Conflict(
            f"{revision} is not in review: it is {revision.get_state_display().lower()}.",
            hint="Look at the task's page for what has happened.",
        )


def _freeze(
    task: Task,
    content: Content,
    *,
    version: int,
    actor: Person,
    clock: Clock,
    resumes: bool = False,
) -> Revision:
    now = clock.now()
    note_editor(task=task, person=actor, clock=clock)
    if replaced := revision_in_review(task):
        state, action = Revision.State.WITHDRAWN, "revision.replaced"
        move(replaced, to=state, actor=actor, clock=clock, action=action, decided_at=now)
    number = (task.revisions.aggregate(highest=Max("number"))["highest"] or 0) + 1
    revision = Revision.objects.create(
        task=task,
        number=number,
        author=actor,
        submitted_at=now,
        draft_version=version,
        resumes=resumes,
        **content.fields(),
    )
    _note_who_vouched(revision, actor=actor, clock=clock)
    action = "revision.resume_asked" if resumes else "revision.submitted"
    record(action=action, subject=revision, actor=actor, clock=clock)
    telling.submitted(revision, replaced=replaced, clock=clock)
    return revision


def _note_who_vouched(revision: Revision, *, actor: Person, clock: Clock) -> None:
    """Where its numbers come from is part of what is reviewed. Somebody may have noted it in
    another task that has the same numbers: they do not approve this one by their own word."""
    told = provenance_of(revision)
    if told is not None and told.pk is not None:
        note_writers(task=revision.task, people=[told.noted_by], actor=actor, clock=clock)


def _refuse_other_version(draft: Draft, version: int) -> None:
    if draft.version != version:
        raise Conflict(
            f"The draft is at version {draft.version}, and you have seen version {version}.",
            hint=f"{draft.changed_by} changed it. Read it again, then submit it.",
        )


def _refuse_other_ground(task: Task, content: Content) -> None:
    """Streams, window unit, population, and whether it calibrates another, stay what the first
    approved revision made them."""
    approved = last_approved(task)
    if approved is None:
        return
    for what, before, now in (
        ("streams", sorted(approved.streams), sorted(content.streams)),
        ("window unit", approved.window_unit, content.window_unit),
        (
            "population",
            _populations(approved.client_task_json),
            _populations(content.client_task_json),
        ),
        (
            "kind",
            _kind(approved.client_task_json),
            _kind(content.client_task_json),
        ),
    ):
        if before != now:
            raise Problem(
                f"The {what} of {task.name} cannot change from {_shown(before)} to {_shown(now)}.",
                hint="Duplicate the task: a change of this kind makes another task.",
            )


def _refuse_same_content(task: Task, content: Content) -> None:
    """Approving what runs already would change nothing but the signature's date."""
    approved = last_approved(task)
    if (
        task.state == Task.State.ACTIVE
        and approved is not None
        and approved.content_sha256 == content.content_sha256
    ):
        raise Problem(
            f"This is what {task.name} runs already, as revision {approved.number}.",
            hint="Change something first.",
        )


def _refuse_over_cap(content: Content) -> None:
    """Nobody could approve it; what other tasks have taken may come free, and is not asked."""
    epsilon, unit = Decimal(content.epsilon) / 100, Unit(content.window_unit)
    once = has_step(content.client_task_json)
    if problem := over_cap(epsilon, unit, cap=weekly_cap(), once=once):
        raise problem


def _populations(client_task: str) -> list[str]:
    return sorted(msgspec.json.decode(client_task)["populations"])


def _kind(client_task: str) -> str:
    return "a calibration" if has_step(client_task) else "a question"


def _shown(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
