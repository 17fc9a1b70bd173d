"""Remarks on tasks, revisions and lines of SQL, and the threads they begin."""

from django.core.exceptions import PermissionDenied
from django.db import transaction

from aggregation.clock import Clock
from aggregation.errors import Problem
from aggregation.protocol.unseen import REMEDY, TOLD, unseen_in_prose
from portal.accounts.models import Person
from portal.audit.services import record
from portal.tasks import telling
from portal.tasks.models import Comment, Revision, Task
from portal.tasks.rights import READERS, require_role

MAX_LENGTH = 4000


@transaction.atomic
def comment(
    *,
    task: Task,
    text: str,
    actor: Person,
    clock: Clock,
    revision: Revision | None = None,
    thread: Comment | None = None,
    part: str = "",
    line: int | None = None,
) -> Comment:
    """Say something on the task, on a revision, on a line of a revision's SQL, or in a thread."""
    require_role(actor, *READERS)
    if thread is not None:
        revision, part, line = thread.revision, "", None
    _check_place(task, revision, thread, part, line)
    said = Comment.objects.create(
        task=task,
        revision=revision,
        thread=(thread.thread or thread) if thread else None,
        author=actor,
        text=checked_text(text),
        created_at=clock.now(),
        part=part,
        line=line,
    )
    record(action="comment.written", subject=said, actor=actor, clock=clock)
    telling.commented(said, clock=clock)
    return said


@transaction.atomic
def resolve(*, thread: Comment, actor: Person, clock: Clock) -> None:
    """A thread is settled. Resolving it again changes nothing."""
    require_role(actor, *READERS)
    _mark(thread, actor=actor, clock=clock, resolved=True)


@transaction.atomic
def unresolve(*, thread: Comment, actor: Person, clock: Clock) -> None:
    require_role(actor, *READERS)
    _mark(thread, actor=actor, clock=clock, resolved=False)


def checked_text(text: str) -> str:
    text = text.strip().replace("\0", "")
    if not text:
        raise Problem("The comment is empty.", hint="Say what you think.")
    if len(text) > MAX_LENGTH:
        raise Problem(
            f"The comment has {len(text):,} characters; at most {MAX_LENGTH:,} are kept.",
            hint="Shorten it.",
        )
    for unseen in unseen_in_prose(text):
        place = f"Line {unseen.line}, column {unseen.column} of the comment"
        raise Problem(f"{place} is {unseen.name}. {TOLD}", hint=REMEDY)
    return text


def _mark(thread: Comment, *, actor: Person, clock: Clock, resolved: bool) -> None:
    if thread.thread_id is not None:
        raise Problem("An answer is not resolved on its own.", hint="Resolve its thread.")
    rows = Comment.objects.filter(pk=thread.pk, resolved_at__isnull=resolved)
    values = (clock.now(), actor) if resolved else (None, None)
    if rows.update(resolved_at=values[0], resolved_by=values[1]):
        thread.refresh_from_db()
        action = "comment.resolved" if resolved else "comment.unresolved"
        record(action=action, subject=thread, actor=actor, clock=clock)


def _check_place(
    task: Task, revision: Revision | None, thread: Comment | None, part: str, line: int | None
) -> None:
    if (revision and revision.task_id != task.pk) or (thread and thread.task_id != task.pk):
        raise PermissionDenied("The comment belongs to another task.")
    if not part and line is None:
        return
    lines = revision.sql_parts().get(part, "").splitlines() if revision else []
    if line is None or not 1 <= line <= len(lines):
        raise Problem(
            f"There is no line {line} of {part or 'the SQL'} here.",
            hint="Name a line of the revision's sql, client_sql or server_sql, from 1.",
        )
