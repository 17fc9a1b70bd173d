"""`POST /device/v1/active`: one more device has the feature on; nothing says which."""

from aggregation.protocol.messages import Active
from portal.collection.active import counter
from portal.device_api.answers import Answer
from portal.device_api.calls.populations import known
from portal.device_api.parts import Parts
from portal.device_api.requests import Request


async def active(parts: Parts, request: Request) -> Answer:
    asked = await request.message(Active, parts.stalls)
    population = known(asked.population, parts.snapshots.current())
    await parts.appender.add_one(counter(population))
    return Answer(204)
