"""Who may do what, address by address: the matrix in access.txt is how it is.

An address that is not in the file fails here, with the lines that it would have. Read them before
you put them there.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client

from portal.openapi import document
from tests.security.routes import VERBS, Route, routes
from tests.security.world import EVERY_ROLE, INTERNAL, PEOPLE, PUBLIC, SCOPES, World, bodies

TABLE = Path(__file__).with_name("access.txt")
COLUMNS = (*PEOPLE, *SCOPES)
WRONG_VERB = "verb"
_addresses = (f"198.51.{n // 250}.{n % 250}" for n in itertools.count())


def test_everyone_may_do_what_the_table_says(world: World) -> None:
    expected = dict(expected_lines())
    found = dict(found_lines(world))
    missing = [found[key] for key in found if key not in expected]
    assert not missing, "These are not in access.txt:\n" + "\n".join(missing)
    gone = [expected[key] for key in expected if key not in found]
    assert not gone, "These are in access.txt, and nowhere else:\n" + "\n".join(gone)
    different = [
        f"is  {found[key]}\nnot {expected[key]}"
        for key in found
        if found[key].split() != expected[key].split()
    ]
    assert not different, "\n".join(different)


def test_every_call_of_the_schema_is_in_the_table() -> None:
    rows = {(verb, _shape(address)) for (verb, address, _), _ in expected_lines()}
    for path, item in document()["paths"].items():
        for verb in item:
            assert (verb.upper(), _shape(path)) in rows


def _shape(address: str) -> str:
    """Arguments have other names in the schema."""
    return re.sub(r"{\w+}", "{}", address)


def expected_lines() -> Iterator[tuple[tuple[str, str, str], str]]:
    for line in TABLE.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            verb, address, kind, *_ = line.split()
            yield (verb, address, kind), line


def found_lines(world: World) -> Iterator[tuple[tuple[str, str, str], str]]:
    given = bodies(world)
    for route in routes():
        for kind, task in _kinds(route):
            address = world.address(route, task=task)
            body = given.get(route.name, {})
            for verb in VERBS:
                if outcome(world, EVERY_ROLE, verb, address, body) == WRONG_VERB:
                    continue
                people = COLUMNS if route.is_api else (*PEOPLE, SCOPES[0])
                said = [outcome(world, who, verb, address, body) for who in people]
                said += ["·"] * (len(COLUMNS) - len(said))
                cells = " ".join(f"{one:8}" for one in said).rstrip()
                yield (verb, route.template, kind), f"{verb:7}{route.template:58}{kind:9}{cells}"


def _kinds(route: Route) -> list[tuple[str, str]]:
    if "task" in route.arguments:
        return [("public", PUBLIC), ("internal", INTERNAL)]
    return [("-", PUBLIC)]


def outcome(world: World, who: str, verb: str, address: str, body: Any) -> str:
    """Nothing that is asked here stays done. An export is not read, and leaves its place; closing
    any other would close the connection, too, and a new one takes longer than most answers."""
    with transaction.atomic():
        answer = ask(world, who, verb, address, body)
        transaction.set_rollback(True)
    if answer.streaming:
        answer.close()
    return _word(answer)


def ask(world: World, who: str, verb: str, address: str, body: Any) -> HttpResponseBase:
    client = world.clients.get(who) or Client(REMOTE_ADDR=next(_addresses))
    cookies = client.cookies.output()
    headers = {"Authorization": world.tokens[who]} if who in world.tokens else {}
    kind = {"content_type": "application/json"} if isinstance(body, str) or verb != "POST" else {}
    try:
        return (
            client.generic(verb, address, headers=headers)
            if verb == "GET"
            else (getattr(client, verb.lower())(address, body, headers=headers, **kind))
        )
    finally:
        client.cookies.load(cookies.replace("Set-Cookie: ", ""))


def _word(answer: HttpResponseBase) -> str:
    status, to = answer.status_code, answer.headers.get("Location", "")
    if status == 401 or to.startswith("/login?"):
        return "login"
    words = {403: "no", 404: "none", 405: WRONG_VERB, 503: "yes"}  # /ready says that it is not
    return words.get(status) or (str(status) if status >= 500 else "yes")
