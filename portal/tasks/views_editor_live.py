"""What the editor's page asks for while one types. All of it is for analysts, nothing is stored
but the draft."""

from typing import Any

import msgspec
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from aggregation.compiler import Compiled
from aggregation.errors import Problem
from portal.accounts.requests import PersonRequest
from portal.clock import civil_clock
from portal.streams import selectors as streams
from portal.tasks import completion, services
from portal.tasks.editor_check import changed_text, check, compiled_of
from portal.tasks.editor_context import around
from portal.tasks.editor_cost import cost
from portal.tasks.editor_format import formatted
from portal.tasks.editor_requests import (
    CheckBody,
    SaveBody,
    SqlBody,
    StatementsBody,
    answers_json,
    read_body,
)
from portal.tasks.editor_sql import combined, taken_apart
from portal.tasks.forecast import forecast
from portal.tasks.pacing import pace_previews
from portal.tasks.populations import known_populations
from portal.tasks.preview_places import place_names, preview_now
from portal.tasks.views_editor import analysts_only, find_draft


@analysts_only
@require_POST
@answers_json
def check_text(request: PersonRequest, name: str) -> HttpResponse:
    """Put the form's changes into the text, and judge it."""
    draft = find_draft(name)
    body, surroundings = read_body(request, CheckBody), around(name)
    changes = msgspec.to_builtins(body.changes)
    text = changed_text(body.text, changes, surroundings.catalog)
    # Whoever looks at an older version is told, before they type.
    held = {"version": draft.version, "by": draft.changed_by.known_as}
    held |= {"text": draft.text} if draft.version != body.version else {}
    return JsonResponse({**check(text, surroundings), "draft": held})


@analysts_only
@require_POST
@answers_json
def save_text(request: PersonRequest, name: str) -> HttpResponse:
    """Save the draft, unless somebody else did meanwhile: then say what they have."""
    draft, body = find_draft(name), read_body(request, SaveBody)
    saved = services.save_draft(
        task=draft.task,
        text=body.text,
        base_version=body.version,
        actor=request.user,
        clock=civil_clock(),
    )
    if isinstance(saved, services.Stale):
        theirs = {"version": saved.version, "text": saved.text, "by": saved.changed_by.known_as}
        return JsonResponse({"stale": theirs}, status=409)
    return JsonResponse({"version": saved.version})


@analysts_only
@require_POST
@answers_json
def format_sql(request: PersonRequest, name: str) -> HttpResponse:
    find_draft(name)
    return JsonResponse({"sql": formatted(read_body(request, SqlBody).sql)})


@analysts_only
@require_POST
@answers_json
def statements(request: PersonRequest, name: str) -> HttpResponse:
    """Two queries as one nested statement, or the other way round."""
    find_draft(name)
    body = read_body(request, StatementsBody)
    if body.sql is None:
        return JsonResponse({"sql": combined(body.client_sql, body.server_sql)})
    client, server = taken_apart(body.sql)
    return JsonResponse({"client_sql": client, "server_sql": server})


@analysts_only
@require_safe
@answers_json
def values(request: PersonRequest, name: str) -> HttpResponse:
    """Values of a column's domain that begin with what was typed."""
    find_draft(name)
    asked = {key: request.GET.get(key, "")[:200] for key in ("stream", "column", "text")}
    return JsonResponse({"values": completion.matching_values(**asked)})


@analysts_only
@require_POST
@answers_json
def panel(request: PersonRequest, name: str, panel: str) -> HttpResponse:
    """One of the side panel's tabs, for a text that compiles."""
    if panel not in _PANELS:
        raise Http404("The editor has no such panel.")
    draft, body = find_draft(name), read_body(request, CheckBody)
    compiled = compiled_of(body.text, streams.installed_catalog(), known_populations())
    if compiled is None:
        raise Problem("There is nothing to show yet.", hint="Mend what the problems list says.")
    if panel == "preview":
        pace_previews(request.user)
    context = {"task": draft.task, **_PANELS[panel](compiled, draft.task.name)}
    return render(request, f"tasks/_editor_{panel}.html", context)


def _preview(compiled: Compiled, task: str) -> dict[str, Any]:
    shown = preview_now(compiled)
    return {"preview": shown, "names": place_names(compiled, shown)}


def _forecast(compiled: Compiled, task: str) -> dict[str, Any]:
    shown = forecast(compiled, streams.installed_catalog())
    return {"forecast": shown, "config": compiled.server_config}


def _cost(compiled: Compiled, task: str) -> dict[str, Any]:
    return {"cost": cost(compiled, task=task, now=civil_clock().now())}


_PANELS = {"preview": _preview, "forecast": _forecast, "cost": _cost}
