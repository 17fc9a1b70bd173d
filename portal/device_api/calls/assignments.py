"""`POST /device/v1/assignments`: a session, a key and a token for each task asked for."""

from aggregation.protocol.ids import fresh_update_id
from aggregation.protocol.messages import (
    Assigned,
    AssignmentRequest,
    Assignments,
    TurnedAway,
    Wanted,
)
from aggregation.protocol.tokens import token
from portal.collection.fleet_counts import Stage
from portal.collection.fleet_counts import TurnedAway as Why
from portal.device_api import pacing
from portal.device_api.answers import Answer, answer
from portal.device_api.calls.populations import known
from portal.device_api.choosing import choose_session
from portal.device_api.parts import Parts
from portal.device_api.requests import Request
from portal.device_api.snapshot import OpenSession, OpenTask, View

_REASONS = {
    Why.NOT_OPEN: (
        "This task has nothing open for this population, or has changed since the check-in."
    ),
    Why.NO_SESSION: "No session of this task takes updates at the moment.",
}


async def assignments(parts: Parts, request: Request) -> Answer:
    return _assignments(parts, await request.message(AssignmentRequest, parts.stalls))


def assignments_at_once(parts: Parts, request: Request, body: bytes, _tell: object) -> Answer:
    return _assignments(parts, request.read(AssignmentRequest, body))


def _assignments(parts: Parts, asked: AssignmentRequest) -> Answer:
    view = parts.snapshots.current()
    population = known(asked.population, view)
    given: list[Assigned | TurnedAway] = []
    asked_before: dict[Wanted, int] = {}
    for wanted in asked.tasks:
        times = asked_before.get(wanted, 0)
        task = _open_task(view, population, wanted, times)
        asked_before[wanted] = times + 1
        session = choose_session(task.sessions, parts.rng) if task else None
        if task and session:
            given.append(_assigned(parts, task, session))
            parts.tally.count(Stage.ASSIGNED, population)
        else:
            why = Why.NO_SESSION if task else Why.NOT_OPEN
            given.append(_turned_away(parts, view, wanted, _REASONS[why]))
            parts.tally.count(why, population)
    return answer(Assignments(assignments=tuple(given)))


def _open_task(view: View, population: str, wanted: Wanted, nth: int) -> OpenTask | None:
    """The one asked for. A resumed task can be open twice, with the same client task and two
    approvals: it is offered twice, and whoever asks twice gets both."""
    same = [
        task
        for task in view.tasks_for(population)
        if task.task == wanted.task and task.client_task == wanted.client_task
    ]
    return same[nth % len(same)] if same else None


def _assigned(parts: Parts, task: OpenTask, session: OpenSession) -> Assigned:
    update = fresh_update_id()
    return Assigned(
        task=task.task,
        client_task=task.client_task,
        address=f"/device/v1/client-tasks/{task.client_task}",
        approval=task.approval,
        signature=task.signature,
        key_id=task.key_id,
        session=session.id,
        public_key=session.public_key,
        session_signature=session.signature,
        update=update,
        token=token(parts.token_key, session=session.id, update=update),
        windows=task.windows,
    )


def _turned_away(parts: Parts, view: View, wanted: Wanted, reason: str) -> TurnedAway:
    return TurnedAway(
        task=wanted.task,
        client_task=wanted.client_task,
        reason=reason,
        retry_seconds=pacing.turned_away_seconds(parts.rng, busy=view.snapshot.busy),
    )
