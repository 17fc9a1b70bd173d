"""Who is told of what happens to a task, and where the exact place is."""

from collections.abc import Iterable, Sequence

from django.urls import reverse

from aggregation.clock import Clock
from aggregation.protocol.windows import Window
from portal.accounts.models import Person, Role
from portal.accounts.selectors import people_with_role
from portal.notifications.models import Event
from portal.notifications.services import notify
from portal.tasks.models import Comment, Revision, Task
from portal.tasks.rights import readers_among
from portal.tasks.selectors import revisions_awaiting
from portal.tasks.shortage import Shortage


def submitted(revision: Revision, *, replaced: Revision | None, clock: Clock) -> None:
    """Every reviewer who may decide on it, and whoever takes part in the conversation."""
    reviewers = [
        person.pk
        for person in people_with_role(Role.REVIEWER)
        if revisions_awaiting(person).filter(pk=revision.pk).exists()
    ]
    verb = "asks to resume" if revision.resumes else "submitted"
    body = f"{revision.author.known_as} {verb} {revision.task.name}, revision {revision.number}."
    if replaced:
        body += f" It replaces revision {replaced.number}."
    _tell(
        [*reviewers, *_taking_part(revision.task)],
        but=revision.author,
        kind="revision.submitted",
        title=f"{revision.task.name} awaits review",
        body=body,
        link=reverse("review_revision", args=[revision.pk]),
        clock=clock,
    )


def decided(
    revision: Revision,
    decision: Comment.Decision,
    said: Comment | None,
    *,
    actor: Person,
    clock: Clock,
) -> None:
    words = {
        Comment.Decision.APPROVED: "approved",
        Comment.Decision.CHANGES_REQUESTED: "sent back with comments",
        Comment.Decision.REJECTED: "rejected",
    }
    link = reverse("task", args=[revision.task.name])
    _tell(
        [revision.author_id, *_taking_part(revision.task)],
        but=actor,
        kind=f"revision.{decision.value}",
        title=f"{revision.task.name} was {words[decision]}",
        body=_quoted(f"{actor.known_as} decided on revision {revision.number}.", said),
        link=f"{link}#comment-{said.pk}" if said else f"{link}#revision-{revision.number}",
        clock=clock,
    )


def commented(said: Comment, *, clock: Clock) -> None:
    if said.part:
        root = reverse("review_revision", args=[said.revision_id])
    else:
        root = reverse("task", args=[said.task.name])
    _tell(
        _taking_part(said.task),
        but=said.author,
        kind="comment.written",
        title=f"{said.author.known_as} commented on {said.task.name}",
        body=_quoted(f"On line {said.line} of {said.part}." if said.part else "", said),
        link=f"{root}#comment-{said.pk}",
        clock=clock,
    )


def stopped(task: Task, reason: str, *, actor: Person | None, clock: Clock) -> None:
    who = actor.known_as if actor else "The system"
    state = task.get_state_display().lower()
    _tell(
        _taking_part(task),
        but=actor,
        kind=f"task.{task.state}",
        title=f"{task.name} was {state}",
        body=f"{who} {state} it. {reason}".strip(),
        link=reverse("task", args=[task.name]),
        clock=clock,
    )


def budget_short(revision: Revision, short: Sequence[Shortage], *, clock: Clock) -> None:
    """Once for each week, while something can still be done about it."""
    task = revision.task
    for each in short:
        title = f"{task.name} has too little ε of {each.stream} for {each.week}"
        if Event.objects.filter(kind="task.budget_short", title=title).exists():
            continue
        _tell(
            _taking_part(task),
            but=None,
            kind="task.budget_short",
            title=title,
            body=f"{each.sentence} Unless that changes before {each.begins:%Y-%m-%d %H:%M} UTC, "
            "its windows of that week are skipped. Submit a revision with a lower ε, or end "
            "another task of the stream.",
            link=f"{reverse('task', args=[task.name])}#short",
            clock=clock,
        )


def windows_skipped(
    revision: Revision, windows: Sequence[Window], reason: str, *, clock: Clock
) -> None:
    shown = ", ".join(window.label for window in windows[:3])
    more = f" and {len(windows) - 3} more" if len(windows) > 3 else ""
    _tell(
        _taking_part(revision.task),
        but=None,
        kind="taskwindow.skipped",
        title=f"{revision.task.name} skips {shown}{more}",
        body=f"{reason} The ledger shows which tasks use the budget.",
        link=f"{reverse('task', args=[revision.task.name])}#windows",
        clock=clock,
    )


def _taking_part(task: Task) -> set[int]:
    """The ids of authors, editors, and everyone who has said something."""
    ids = {task.created_by_id}
    ids |= set(task.editors.values_list("person_id", flat=True))
    ids |= set(task.revisions.values_list("author_id", flat=True))
    ids |= set(task.comments.values_list("author_id", flat=True))
    return ids


def _tell(
    people: Iterable[int],
    *,
    but: Person | None,
    kind: str,
    title: str,
    body: str,
    link: str,
    clock: Clock,
) -> None:
    """Nobody is told of what they did themselves, and nobody of what they may not see (any more).

    The webhook is called though nobody of those who took part may be told.
    """
    others = {pk for pk in people if but is None or pk != but.pk}
    if others:
        notify(
            recipients=readers_among(others),
            kind=kind,
            title=title,
            body=body,
            link=link,
            clock=clock,
        )


def _quoted(first: str, said: Comment | None) -> str:
    return f"{first} {said.author.known_as}: {said.text[:1500]}".strip() if said else first
