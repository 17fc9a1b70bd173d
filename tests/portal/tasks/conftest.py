"""People, streams and tasks at each step of their life, made by the same services as any other."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings

PASSWORD = "correct horse battery"

SPEC = """\
name: {name}
description: Trips by activity
streams: [{stream}]
population: all
window: {{unit: {unit}, grace_hours: {grace}}}
client_sql: |
  SELECT activity, privacy_time_unit, COUNT(*) AS n
  FROM trips GROUP BY activity, privacy_time_unit
server_sql: |
  SELECT activity, privacy_time_unit, SUM(n) AS n
  FROM device_results GROUP BY activity, privacy_time_unit
anonymization:
  epsilon: {epsilon}
  mechanism: {{kind: joint_clipping, clip: {clip}}}
"""


def spec_text(name: str = "trips-by-activity", **fields: Any) -> str:
    usual = {"stream": "trips", "unit": "week", "grace": 24, "epsilon": 1, "clip": 20}
    return SPEC.format(name=name, **{**usual, **fields})


@pytest.fixture
def streams(catalog: Any) -> None:
    """The shipped streams over 12 regions, where the portal looks for them."""
    catalog.write(settings.DATA / "streams")


@pytest.fixture
def ada(person: Callable[..., Any]) -> Any:
    return person("analyst", username="ada")


@pytest.fixture
def rafael(person: Callable[..., Any]) -> Any:
    return person("reviewer", username="rafael")


@pytest.fixture
def drafted(streams: None, ada: Any, clock: Any) -> Callable[..., Any]:
    """A task with a draft that compiles: `drafted("daily", unit="day")`."""
    from portal.tasks import services

    def make(name: str = "trips-by-activity", *, by: Any = None, **fields: Any) -> Any:
        text = spec_text(name, **fields)
        return services.create_task(name=name, text=text, actor=by or ada, clock=clock)

    return make


@pytest.fixture
def submitted(drafted: Callable[..., Any], ada: Any, clock: Any) -> Callable[..., Any]:
    """A revision in review."""
    from portal.tasks import services

    def make(name: str = "trips-by-activity", **fields: Any) -> Any:
        task = drafted(name, **fields)
        return services.submit(task=task, version=1, actor=ada, clock=clock)

    return make


@pytest.fixture
def approve(rafael: Any, clock: Any) -> Callable[..., Any]:
    from portal.tasks import services

    def do(revision: Any, *, by: Any = None, **given: Any) -> Any:
        usual = {"seen": revision.content_sha256, "password": PASSWORD, "comment": ""}
        return services.approve(
            revision=revision, actor=by or rafael, clock=clock, **{**usual, **given}
        )

    return do


@pytest.fixture
def active(submitted: Callable[..., Any], approve: Callable[..., Any]) -> Callable[..., Any]:
    """A task that runs from the next window on."""

    def make(name: str = "trips-by-activity", **fields: Any) -> Any:
        return approve(submitted(name, **fields)).task

    return make


@pytest.fixture
def revise(ada: Any, clock: Any) -> Callable[..., Any]:
    """Write and submit another revision of a task."""
    from portal.tasks import services
    from portal.tasks.models import Draft

    def do(task: Any, *, by: Any = None, **fields: Any) -> Any:
        version = Draft.objects.get(task=task).version
        text = spec_text(task.name, **fields)
        saved = services.save_draft(
            task=task, text=text, base_version=version, actor=by or ada, clock=clock
        )
        return services.submit(task=task, version=saved.version, actor=by or ada, clock=clock)

    return do
