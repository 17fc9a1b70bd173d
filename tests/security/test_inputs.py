"""Whatever stands in an address or a body: an answer in words, never a fault of ours.

Everything is tried in `make deep`; every day a part of it, in which each address has its turn.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from portal.accounts.models import Role
from portal.openapi import document
from portal.tasks import services
from tests.portal.tasks.conftest import spec_text
from tests.security.nasty import BODIES, FIELDS, TYPES, WORDS, filled
from tests.security.routes import Route, routes

TASK = "trips-by-activity"
# Of so many combinations one a day.
STEP = {"everyday": 11, "full": 1}
Ask = tuple[str, str, bytes, str]


@pytest.fixture
def client(person: Any, catalog: Any, clock: Any) -> Client:
    """Somebody who may do everything, and a task to do it with."""
    catalog.write(settings.DATA / "streams")
    everyone = person(*Role.values)
    task = services.create_task(name=TASK, text=spec_text(TASK), actor=everyone, clock=clock)
    services.submit(task=task, version=1, actor=everyone, clock=clock)
    made = Client(raise_request_exception=False)
    made.force_login(everyone)
    return made


def faults(client: Client, every: Iterable[Ask], size: str) -> list[str]:
    asked = list(every)[:: STEP[size]]
    assert asked
    return [
        f"{verb} {address[:90]} {body[:40]!r} {kind}: {answer.status_code}"
        for verb, address, body, kind in asked
        if (answer := client.generic(verb, address, body, kind)).status_code >= 500
        and answer.status_code != 503  # pages of places say that none are installed
    ]


def address_of(route: Route, **words: str) -> str:
    found = route.template
    usual = {"name": TASK, "task": TASK, "panel": "cost"}
    for argument in route.arguments:
        word = words.get(argument) or usual.get(argument, "1")
        found = found.replace(f"{{{argument}}}", word)
    return found


@pytest.mark.databases
def test_any_word_in_an_address(client: Client, size: str) -> None:
    def every() -> Iterator[Ask]:
        for route, word, verb in product(routes(), WORDS.values(), ("GET", "POST")):
            for argument in route.arguments:
                yield verb, address_of(route, **{argument: word}), b"", ""

    assert faults(client, every(), size) == []


# What pages and calls read from their address, here and there.
PARAMETERS = (
    "action", "at", "by", "compare", "column", "country", "first_day", "format", "key", "kind",
    "line", "metric", "next", "object_id", "page", "page_size", "part", "person", "population", "q",
    "sort", "start", "state", "stream", "table", "task", "text", "theme", "view", "week", "weeks",
    "window", "windows",
)  # fmt: skip


@pytest.mark.databases
def test_any_word_in_a_query(client: Client, size: str) -> None:
    def every() -> Iterator[Ask]:
        for route, word in product(routes(), WORDS.values()):
            query = "&".join(f"{name}={word[:100]}" for name in PARAMETERS)
            if not route.name.endswith("_live"):
                yield "GET", f"{address_of(route)}?{query}", b"", ""

    assert faults(client, every(), size) == []


def calls() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Calls of the API that change something: verb, address and the schema of the body."""
    known = {re.sub(r"{\w+}", "{}", route.template): route for route in routes()}
    for path, item in document()["paths"].items():
        for verb, operation in item.items():
            content = operation.get("requestBody", {}).get("content", {})
            shape = content.get("application/json", {}).get("schema", {})
            name = shape.get("$ref", "").rpartition("/")[2]
            if verb != "get":
                address = address_of(known[re.sub(r"{\w+}", "{}", path)])
                yield verb.upper(), address, document()["components"]["schemas"].get(name, {})


def test_any_body_of_a_call(client: Client, size: str) -> None:
    every = [
        (verb, address, body, "application/json")
        for (verb, address, _), body in product(calls(), BODIES.values())
    ]
    assert faults(client, every, size) == []


@pytest.mark.databases
def test_anything_in_a_field_of_a_call(client: Client, size: str) -> None:
    every = [
        (verb, address, filled(schema, value), "application/json")
        for (verb, address, schema), value in product(calls(), FIELDS.values())
    ]
    assert faults(client, every, size) == []


def test_any_body_of_the_editor(client: Client, size: str) -> None:
    names = ("check", "save", "format", "statements", "preview", "cost")
    every = [
        ("POST", f"/tasks/{TASK}/edit/{name}", body, "application/json")
        for name, body in product(names, BODIES.values())
    ]
    assert faults(client, every, size) == []


def test_any_type_of_body(client: Client, size: str) -> None:
    head = b'Content-Disposition: form-data; name="text"; filename="../../x"'
    part = b"--b\r\n" + head + b"\r\n\r\na\r\n--b--"
    addresses = ("/login", "/tasks/new", "/lab/load", "/account", "/api/v1/tasks")
    bodies = (part, b"text=%ff&name=%00", b"{}")
    every = [("POST", *one) for one in product(addresses, bodies, TYPES)]
    assert faults(client, every, size) == []


@pytest.mark.parametrize("body", ["deep lists", "deep objects", "a deep field"])
def test_a_body_that_is_too_deep_is_told_so(client: Client, body: str) -> None:
    answer = client.generic("POST", "/api/v1/tasks", BODIES[body], "application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "parse_error")
    answer = client.generic("POST", f"/tasks/{TASK}/edit/save", BODIES[body], "application/json")
    assert answer.status_code == 400


def test_more_fields_than_any_form_has(client: Client) -> None:
    body = "&".join(f"f{number}=1" for number in range(5000))
    answer = client.generic("POST", "/account", body, "application/x-www-form-urlencoded")
    assert answer.status_code == 400
