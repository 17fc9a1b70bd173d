"""A draft in the editor, and what its page asks the server for."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings

from portal.tasks.models import Task
from portal.tasks.services import create_task
from portal.tasks.starting_points import starting_point

TEXT = starting_point("weekly-trips").text


@pytest.fixture(autouse=True)
def installed(catalog: Any) -> None:
    catalog.write(settings.DATA / "streams")


@pytest.fixture
def author(person: Callable[..., Any]) -> Any:
    return person("analyst", username="ada")


@pytest.fixture
def task(author: Any, clock: Any) -> Task:
    return create_task(name="weekly-trips", text=TEXT, actor=author, clock=clock)


@pytest.fixture
def ask(signed_in: Callable[..., Any], author: Any, task: Task) -> Callable[..., Any]:
    """Post as the author, and read what comes back: its status, and its JSON or text."""
    client = signed_in(who=author)

    def post(what: str, **body: Any) -> tuple[int, Any]:
        answer = client.post(
            f"/tasks/{task.name}/edit/{what}", json.dumps(body), content_type="application/json"
        )
        is_json = "json" in answer["Content-Type"]
        return answer.status_code, answer.json() if is_json else answer.content.decode()

    return post


def change(path: str, value: Any) -> dict[str, Any]:
    return {"path": path.split("."), "value": value}
