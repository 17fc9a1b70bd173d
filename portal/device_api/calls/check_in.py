"""`POST /device/v1/check-in`: what is open, and when to come back."""

from aggregation.protocol.messages import CheckIn, Offer, Offers, write
from portal.device_api.answers import Answer, json_bytes
from portal.device_api.calls.populations import known
from portal.device_api.pacing import next_check_in
from portal.device_api.parts import Parts
from portal.device_api.requests import Request
from portal.device_api.snapshot import OpenTask, View


async def check_in(parts: Parts, request: Request) -> Answer:
    return _checked_in(parts, request, await request.message(CheckIn, parts.stalls))


def check_in_at_once(parts: Parts, request: Request, body: bytes, _tell: object) -> Answer:
    return _checked_in(parts, request, request.read(CheckIn, body))


def _checked_in(parts: Parts, request: Request, asked: CheckIn) -> Answer:
    view = parts.snapshots.current()
    request.population = population = known(asked.population, view)
    # Devices draw their own moments, so all of a population get the same bytes.
    if population not in view.offers:
        view.offers[population] = json_bytes(write(_offers(population, view)))
    return view.offers[population]


def _offers(population: str, view: View) -> Offers:
    tasks = view.tasks_for(population)
    snapshot = view.snapshot
    hint = next_check_in(
        open_units={task.window_unit for task in tasks},
        next_due_seconds=snapshot.next_due_seconds,
        next_due_open_seconds=snapshot.next_due_open_seconds,
        busy=snapshot.busy,
    )
    return Offers(tasks=tuple(_offer(task) for task in tasks), next_check_in=hint)


def _offer(task: OpenTask) -> Offer:
    return Offer(
        task=task.task,
        client_task=task.client_task,
        window_unit=task.window_unit,
        windows=task.windows,
        eligibility=task.eligibility,
        schedule=task.schedule,
    )
