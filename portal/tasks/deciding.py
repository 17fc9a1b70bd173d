"""A second person decides on a revision: approve, ask for changes, or reject.

There is one way to approve, and it is here. No program can come this way: the API has no call for
it, and it asks for the password of the person who approves. The database keeps the same rules for
whoever goes around this module, and the signature those who go around the database.
"""

from datetime import UTC, datetime

from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from aggregation.clock import Clock
from portal.accounts.models import Person
from portal.accounts.passwords import refuse_late, require_password
from portal.audit import witness
from portal.audit.services import move
from portal.clock_skew import noted_ahead
from portal.problems import Conflict
from portal.tasks import telling
from portal.tasks.activating import activate
from portal.tasks.changes import changes_between, in_a_sentence
from portal.tasks.commenting import checked_text
from portal.tasks.contents import verify_content
from portal.tasks.locking import locked_alive
from portal.tasks.models import Comment, Revision
from portal.tasks.rights import require_second_person
from portal.tasks.selectors import newest_revision
from portal.tasks.submitting import refuse_decided

Decision = Comment.Decision


@sensitive_variables("password")
def approve(
    *,
    revision: Revision,
    seen: str,
    password: str,
    comment: str,
    actor: Person,
    clock: Clock,
) -> Revision:
    """Approve exactly the content that was seen, and activate it from the next window on.

    `seen` is the content hash on the page the actor has read. Under the task's lock the revision
    must still be in review with that hash, must hash and compile to the same again, and its
    windows must fit the ledger; then it is signed, or nothing happens at all.
    """
    require_second_person(revision, actor)
    require_password(actor, password, clock=clock, now=datetime.now(UTC))
    with transaction.atomic():
        witness.refuse_behind()
        _refuse_early()
        refuse_late(actor)
        revision = _still_in_review(revision, seen)
        require_second_person(revision, actor)
        verify_content(revision)
        activate(revision=revision, approver=actor, clock=clock)
        _say(revision, comment, Decision.APPROVED, actor=actor, clock=clock)
    return revision


def _refuse_early() -> None:
    """Only windows that begin after an approval are asked for, and phones take the moment that is
    signed. A clock that is behind would sign one that is over, and ask about the past."""
    if latest := noted_ahead(datetime.now(UTC)):
        written = f"{latest:%d %b %Y, %H:%M:%S}"
        raise Conflict(
            f"The clock of this machine is behind, or another one's is ahead: something was "
            f"written at {written} UTC, which is still to come here.",
            hint="Ask an operator to set it right: what is approved by a clock that is behind "
            "could ask about the past.",
        )


def ask_for_changes(
    *, revision: Revision, seen: str, comment: str, actor: Person, clock: Clock
) -> Revision:
    """Send it back with words; the author edits the draft and submits again."""
    return _turn_down(revision, seen, comment, Decision.CHANGES_REQUESTED, actor=actor, clock=clock)


def reject(*, revision: Revision, seen: str, comment: str, actor: Person, clock: Clock) -> Revision:
    return _turn_down(revision, seen, comment, Decision.REJECTED, actor=actor, clock=clock)


@transaction.atomic
def _turn_down(
    revision: Revision,
    seen: str,
    comment: str,
    decision: Decision,
    *,
    actor: Person,
    clock: Clock,
) -> Revision:
    checked_text(comment)  # a reason is owed before anything happens
    revision = _still_in_review(revision, seen)
    require_second_person(revision, actor)
    state = Revision.State(decision.value)
    move(revision, to=state, actor=actor, clock=clock, decided_at=clock.now())
    _say(revision, comment, decision, actor=actor, clock=clock)
    return revision


def _still_in_review(revision: Revision, seen: str) -> Revision:
    """The revision under its task's lock, if it is what the actor has seen."""
    task = locked_alive(revision.task)
    fresh = Revision.objects.select_related("task", "author").get(pk=revision.pk)
    newest = newest_revision(task)
    if newest is not None and newest.number > fresh.number:
        changed = in_a_sentence(changes_between(fresh, newest))
        raise Conflict(
            f"Revision {newest.number} of {task.name} has replaced revision {fresh.number}: "
            f"{changed}",
            hint="Review the newer one.",
        )
    refuse_decided(fresh)
    if fresh.content_sha256 != seen:
        raise Conflict(
            f"The content you saw ({seen[:12]}…) is not that of {fresh} "
            f"({fresh.content_sha256[:12]}…).",
            hint="Open the review page again, and read what it says now.",
        )
    return fresh


def _say(revision: Revision, text: str, decision: Decision, *, actor: Person, clock: Clock) -> None:
    said = None
    if text.strip():
        said = Comment.objects.create(
            task=revision.task,
            revision=revision,
            author=actor,
            text=checked_text(text),
            created_at=clock.now(),
            decision=decision,
        )
    telling.decided(revision, decision, said, actor=actor, clock=clock)
