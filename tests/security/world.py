"""One thing of every kind, and people who own it or do not: what the matrix of access is tried on.

The task, its draft, comment, study, token and notification are Ada's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from portal.accounts.models import Person, Role
from portal.accounts.tokens import create_token
from portal.lab import services as lab
from portal.notifications.models import Delivery, Notification
from portal.notifications.services import notify
from portal.releases import running
from portal.tasks import services
from tests.portal.collection import collecting as module
from tests.portal.collection.collecting import Collecting, someone
from tests.portal.releases.browsing.conftest import PARIS, SPEC
from tests.portal.tasks.conftest import PASSWORD
from tests.security.routes import Route

PUBLIC, INTERNAL, WAITING = "trips-by-region", "inner-trips", "waiting-trips"
REACH = {"constraints": [], "ladder": {"rungs": []}}
# Whose session it is, or the one scope of a token of somebody with every role.
PEOPLE = ("guest", "nobody", "consumer", "analyst", "other", "reviewer", "operator")
SCOPES = ("read", "author", "operate")
EVERY_ROLE = "every role"


@dataclass
class World:
    clock: Any
    clients: dict[str, Client] = field(default_factory=dict)
    # Scope → what stands in the header.
    tokens: dict[str, str] = field(default_factory=dict)
    # Argument of an address → its value, for addresses that begin so.
    values: list[tuple[str, str, Any]] = field(default_factory=list)
    seen: str = ""

    def address(self, route: Route, *, task: str) -> str:
        found = route.template
        for argument in route.arguments:
            found = found.replace(f"{{{argument}}}", str(self._value(route, argument, task)))
        return found

    def _value(self, route: Route, argument: str, task: str) -> Any:
        template = route.template.removeprefix("/api/v1")
        if argument == "task":
            return task
        if argument == "window":
            return "2026-11-18" if task == PUBLIC else "2026-11-19"
        for start, name, value in self.values:
            if name == argument and template.startswith(start):
                return value
        raise AssertionError(f"{route.template} needs an example of {argument} in {__file__}.")


def made_world(collecting: Collecting, monkeypatch: Any) -> World:
    clock = collecting.clock
    inner = SPEC.replace("audience: public", "audience: internal").replace("0.5", "0.05")
    monkeypatch.setattr(module, "SPEC", inner)
    collecting.activate(INTERNAL, grace=24)
    collecting.go_to("2026-11-21T00:00:00")
    for _ in range(3):
        running.release_due_windows(clock=clock)
    running.render_releases()
    world, ada = World(clock), Person.objects.get(username="ada")
    _write_down(world, ada)
    _let_in(world, ada)
    return world


def _write_down(world: World, ada: Person) -> None:
    clock = world.clock
    text = SPEC.format(name=WAITING, grace=24)
    task = services.create_task(name=WAITING, text=text, actor=ada, clock=clock)
    revision = services.submit(task=task, version=1, actor=ada, clock=clock)
    said = services.comment(task=task, actor=ada, clock=clock, text="Why?", revision=revision)
    study = lab.ask_for_study(kind="reach", parameters={}, actor=ada, clock=clock)
    lab.begin_study(study=study, clock=clock)
    lab.finish_study(study=study, result=REACH, clock=clock)
    token = create_token(owner=ada, name="a", scopes=["read"], lifetime_days=30, clock=clock).token
    Person.objects.filter(pk=ada.pk).update(email="ada@example.org", wants_email=True)
    ada.refresh_from_db()
    words = {"kind": "test.happened", "title": "It happened", "body": "", "link": "/streams/trips"}
    event = notify(recipients=[ada], clock=clock, **words)
    world.seen = revision.content_sha256
    world.values = [
        ("/account/tokens", "token_id", token.pk),
        ("/tokens", "token_id", token.pk),
        ("/people", "person_id", someone("carla", "consumer").pk),
        ("/notifications/deliveries", "pk", Delivery.objects.get(event=event).pk),
        ("/notifications", "pk", Notification.objects.get(event=event).pk),
        ("/review", "pk", revision.pk),
        ("/tasks", "pk", said.pk),
        ("/tasks", "name", WAITING),
        ("/tasks", "number", 1),
        ("/tasks", "panel", "cost"),
        ("/lab/on-phones", "name", WAITING),
        ("/lab/new", "kind", "reach"),
        ("/lab", "pk", study.pk),
        ("/lab", "form", "csv"),
        ("/studies", "study", study.pk),
        ("/releases", "name", "cells.csv"),
        ("/streams", "name", "trips"),
        ("/streams", "column", "activity"),
        ("/docs", "slug", "flow"),
        ("/places", "geonameid", PARIS),
        ("/countries", "code", "FR"),
    ]


def _let_in(world: World, ada: Person) -> None:
    people = {
        "nobody": someone("nil"),
        "consumer": someone("cora", "consumer"),
        "analyst": ada,
        "other": someone("olga", "analyst"),
        "reviewer": someone("rita", "reviewer"),
        "operator": someone("otto", "operator"),
    }
    for name, person in people.items():
        world.clients[name] = Client()
        world.clients[name].force_login(person)
    everyone = someone("all", *Role.values)
    world.clients[EVERY_ROLE] = Client()
    world.clients[EVERY_ROLE].force_login(everyone)
    for scope in SCOPES:
        made = create_token(
            owner=everyone, name=scope, scopes=[scope], lifetime_days=30, clock=world.clock
        )
        world.tokens[scope] = f"Bearer {made.secret}"


def bodies(world: World) -> dict[str, Any]:
    """What is sent to addresses that change something: whoever may do it gets past the form."""
    text = SPEC.format(name=WAITING, grace=24)
    return {
        "add_person": {"username": "new", "roles": ["consumer"], "password": PASSWORD},
        "ask_study": {"phones": 20_000, "seed": 1},
        "comment_on_task": {"text": "So."},
        "decide": {"decision": "changes", "seen": world.seen, "comment": "Smaller."},
        "duplicate_task": {"name": "copy"},
        "edit_task": {"text": text, "version": 1, "action": "save"},
        "editor_check": json.dumps({"text": text, "version": 1}),
        "editor_format": json.dumps({"sql": "SELECT 1"}),
        "editor_panel": json.dumps({"text": text, "version": 1}),
        "editor_save": json.dumps({"text": text, "version": 1}),
        "editor_statements": json.dumps({"client_sql": "SELECT 1", "server_sql": "SELECT 1"}),
        "follow_task": {"on": "1"},
        "new_task": {"name": "new-task", "start": "blank"},
        "switch_role": {"role": "analyst"},
        "tokens": {"name": "t", "scopes": ["read"], "lifetime_days": 30, "password": PASSWORD},
        "api_comments": json.dumps({"text": "So."}),
        "api_compile_spec": text,
        "api_cost": text,
        "api_draft": json.dumps({"text": text, "base_version": 1}),
        "api_duplicate": json.dumps({"name": "copy"}),
        "api_forecast": text,
        "api_format_sql": json.dumps({"sql": "SELECT 1"}),
        "api_populations": json.dumps({"name": "somewhere"}),
        "api_preview": text,
        "api_statements": json.dumps({"sql": "SELECT 1"}),
        "api_studies": json.dumps({"kind": "reach"}),
        "api_submit": json.dumps({"version": 1}),
        "api_tasks": json.dumps({"name": "new-task", "text": ""}),
    }
