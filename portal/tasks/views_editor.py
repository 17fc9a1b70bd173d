"""The editor's pages: beginning a task, and writing its draft."""

import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from aggregation.errors import Problem
from portal.access import role_required
from portal.accounts.models import Role
from portal.accounts.requests import PersonRequest
from portal.clock import civil_clock
from portal.tasks import completion, services
from portal.tasks.editor_check import check, plain_document
from portal.tasks.editor_context import around, form_sections
from portal.tasks.editor_forms import NewTaskForm, starting_choices
from portal.tasks.models import Draft, Task

analysts_only = role_required(Role.ANALYST)


@analysts_only
@require_http_methods(["GET", "HEAD", "POST"])
def new_task(request: PersonRequest) -> HttpResponse:
    """Choose a name and a starting point."""
    chosen = request.GET.get("start", "weekly-trips")
    form = NewTaskForm(request.POST or None, request.FILES or None, initial={"start": chosen})
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"]
        try:
            services.create_task(
                name=name, text=form.text(), actor=request.user, clock=civil_clock()
            )
            return redirect("edit_task", name)
        except Problem as problem:
            form.add_error("name", str(problem))
    context = {
        "section": "tasks",
        "form": form,
        "points": starting_choices(),
        "chosen": form["start"].value() or "blank",
    }
    return render(request, "tasks/editor_new.html", context, status=400 if form.errors else 200)


@analysts_only
@require_http_methods(["GET", "HEAD", "POST"])
def edit_task(request: PersonRequest, name: str) -> HttpResponse:
    """The editor. Its form works without scripts: save, check and submit the YAML."""
    draft = find_draft(name)
    if request.method != "POST":
        return _editor(request, draft, draft.text)
    text = request.POST.get("text", draft.text).replace("\r\n", "\n")
    if request.POST.get("action") == "check":
        return _editor(request, draft, text)
    return _save(request, draft, text, submit=request.POST.get("action") == "submit")


@analysts_only
@require_safe
def download(request: PersonRequest, name: str) -> HttpResponse:
    """The draft as a file."""
    draft = find_draft(name)
    answer = HttpResponse(draft.text, content_type="application/yaml; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{draft.task.name}.yaml"'
    return answer


def find_draft(name: str) -> Draft:
    found = Draft.objects.select_related("task", "changed_by").filter(task__name=name).first()
    if found is None:
        raise Http404(f"There is no task “{name}”.")
    if found.task.state == Task.State.ENDED:
        raise Http404(f"The task {name} has ended, and is not edited any more.")
    return found


def _save(request: PersonRequest, draft: Draft, text: str, *, submit: bool) -> HttpResponse:
    version = _version(request)
    actor, clock = request.user, civil_clock()
    try:
        saved = services.save_draft(
            task=draft.task, text=text, base_version=version, actor=actor, clock=clock
        )
        if isinstance(saved, services.Stale):
            return _editor(request, draft, text, stale=saved, status=409)
        if submit:
            services.submit(task=draft.task, version=saved.version, actor=actor, clock=clock)
            messages.success(request, f"{draft.task.name} awaits review by a second person.")
            _warn_of_shortage(request, draft.task.name, text)
            return redirect("task", draft.task.name)
    except Problem as problem:
        messages.error(request, str(problem))
        return _editor(request, find_draft(draft.task.name), text, status=400)
    messages.success(request, "The draft is saved.")
    return redirect("edit_task", draft.task.name)


def _warn_of_shortage(request: PersonRequest, name: str, text: str) -> None:
    if shortage := check(text, around(name))["shortage"]:
        words = f"It cannot be approved as the ledger stands: {shortage}."
        messages.warning(request, f"{words} Lower its ε, or end another task of the stream.")


def _version(request: PersonRequest) -> int:
    given = request.POST.get("version", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else -1


def _editor(
    request: PersonRequest,
    draft: Draft,
    text: str,
    *,
    stale: services.Stale | None = None,
    status: int = 200,
) -> HttpResponse:
    checked = check(text, around(draft.task.name))
    schema = completion.schema()
    context: dict[str, Any] = {
        "section": "tasks",
        "task": draft.task,
        "draft": draft,
        "text": text,
        "checked": checked,
        "sections": form_sections(plain_document(text) or {}, checked["consequences"]),
        "schema": schema,
        "schema_json": json.dumps(schema),
        "checked_json": json.dumps(checked),
        "facts": completion.device_facts(),
        "stale": stale,
        "revision": draft.task.revisions.first(),
    }
    return render(request, "tasks/editor.html", context, status=status)
