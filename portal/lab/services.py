"""Asking for studies, cancelling them, and what whoever runs them writes down."""

import logging
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction

from aggregation.clock import Clock
from aggregation.errors import Problem
from portal.accounts.models import Person, Role
from portal.audit.services import Change, move, record
from portal.lab import kinds
from portal.lab.models import Study
from portal.problems import Conflict, TooOften
from portal.tasks.rights import require_role

log = logging.getLogger(__name__)

# Who asks for studies, and who sees them.
STUDENTS = (Role.ANALYST, Role.REVIEWER, Role.OPERATOR)
# Under way at a time, for one person and for all.
MOST_OWN, MOST = 3, 12


def ask_for_study(*, kind: str, parameters: object, actor: Person, clock: Clock) -> Study:
    """A study that waits for its turn."""
    require_role(actor, *STUDENTS)
    checked = kinds.checked(kind, parameters)
    _refuse_too_many(actor)
    with transaction.atomic():
        study = Study.objects.create(
            kind=kind, parameters=checked, asked_by=actor, asked_at=datetime.now(UTC)
        )
        asked = [Change("kind", None, str(kind))]
        record(action="study.asked", subject=study, actor=actor, clock=clock, changes=asked)
    return study


def load_study(*, text: str, actor: Person, clock: Clock) -> Study:
    """The result of a calibration that was run where its data is. Only numbers come here."""
    from portal.lab.calibrating import load_fitted, refuse_unseen

    require_role(actor, *STUDENTS)
    fitted, now = load_fitted(text), datetime.now(UTC)
    refuse_unseen(fitted)
    told = fitted.provenance
    with transaction.atomic():
        study = Study.objects.create(
            kind=Study.Kind.CALIBRATION,
            parameters={"fit": told.fit, "epsilon": told.epsilon, "source": told.source},
            is_loaded=True,
            asked_by=actor,
            asked_at=now,
            state=Study.State.DONE,
            ended_at=now,
            progress=1.0,
            result=fitted.plain(),
        )
        data = [Change("data_sha256", None, told.data_sha256)]
        record(action="study.loaded", subject=study, actor=actor, clock=clock, changes=data)
    return study


def cancel_study(*, study: Study, actor: Person, clock: Clock) -> Study:
    """Whether it waits or runs, and though it begins meanwhile."""
    require_role(actor, *STUDENTS)
    if not may_cancel(study, actor):
        raise PermissionDenied(
            "Only the person who asked for a study, or an operator, can cancel it."
        )
    ended: dict[str, Any] = {"ended_at": datetime.now(UTC)}
    while study.is_under_way:
        if move(study, to=Study.State.CANCELLED, actor=actor, clock=clock, **ended):
            return study
        study.refresh_from_db()
    raise Conflict("The study is over already.", hint="Look at its page again.")


def may_cancel(study: Study, person: Person) -> bool:
    """One's own; and any of them for operators, since all wait for the one that runs."""
    return study.asked_by_id == person.pk or person.has_role(Role.OPERATOR)


def begin_study(*, study: Study, clock: Clock) -> bool:
    """Whether it is this caller's to run: one runs at a time."""
    now = datetime.now(UTC)
    began: dict[str, Any] = {"started_at": now, "alive_at": now, "progress": 0.0}
    try:
        return move(study, to=Study.State.RUNNING, clock=clock, **began)
    except IntegrityError:
        return False


def finish_study(*, study: Study, result: dict[str, Any], clock: Clock) -> bool:
    done: dict[str, Any] = {"result": result, "progress": 1.0, "ended_at": datetime.now(UTC)}
    return move(study, to=Study.State.DONE, clock=clock, **done)


def fail_study(*, study: Study, why: str, clock: Clock) -> bool:
    failed: dict[str, Any] = {"error": why[:500], "ended_at": datetime.now(UTC)}
    return move(study, to=Study.State.FAILED, clock=clock, **failed)


def put_back(*, study: Study, clock: Clock) -> bool:
    """Its worker was told to stop: another one begins it anew."""
    waiting: dict[str, Any] = {"started_at": None, "alive_at": None, "progress": 0.0}
    return move(study, to=Study.State.WAITING, clock=clock, **waiting)


def note_progress(*, study_id: int, share: float | None = None) -> bool:
    """A sign of life; whether the study is still to go on."""
    fields: dict[str, Any] = {"alive_at": datetime.now(UTC)}
    if share is not None:
        fields["progress"] = min(max(share, 0.0), 1.0)
    running = Study.objects.filter(pk=study_id, state=Study.State.RUNNING)
    return bool(running.update(**fields))


def _refuse_too_many(actor: Person) -> None:
    under_way = Study.objects.filter(state__in=Study.UNDER_WAY)
    if under_way.filter(asked_by=actor).count() >= MOST_OWN:
        raise Problem(
            f"{MOST_OWN} of your studies are under way already.",
            hint="Wait for one of them, or cancel it.",
        )
    if under_way.count() >= MOST:
        raise TooOften("studies", 60)
