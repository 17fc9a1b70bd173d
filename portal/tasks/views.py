"""Tasks as pages: the list, and one task with its life."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.access import role_required
from portal.accounts.models import Role
from portal.accounts.requests import PersonRequest
from portal.clock import civil_clock
from portal.tasks import selectors
from portal.tasks.finding import find_task
from portal.tasks.forms import VIEWS, CommentForm, DuplicateForm, TaskFilterForm
from portal.tasks.impact import impact
from portal.tasks.life import life_of
from portal.tasks.models import Task
from portal.tasks.reading import Documents
from portal.tasks.rights import READERS
from portal.tasks.shortage import shortages
from portal.tasks.sql_places import places_named_in
from portal.tasks.timeline import next_release, timeline


@require_safe
@role_required(*READERS)
def tasks(request: PersonRequest) -> HttpResponse:
    form = TaskFilterForm(request.GET)
    wanted = form.wanted()
    counts = selectors.task_counts(request.user, wanted)
    context = {
        "section": "tasks",
        "form": form,
        "view": wanted.view,
        "tabs": [(value, label, counts[value]) for value, label in VIEWS],
        "filtered": bool(wanted.text or wanted.stream),
        "page": Paginator(selectors.tasks_for(request.user, wanted), 50).get_page(
            request.GET.get("page")
        ),
        "may_write": request.user.has_role(Role.ANALYST),
    }
    return render(request, "tasks/tasks.html", context)


@require_safe
@role_required(*READERS)
def task(request: PersonRequest, name: str) -> HttpResponse:
    found = find_task(name)
    context = {"section": "tasks", "task": found, **_life(found), **_content(found)}
    return render(request, "tasks/task.html", context | _actions(request, found))


def _life(task: Task) -> dict[str, Any]:
    now = civil_clock().now()
    windows = list(selectors.windows_of(task))
    return {
        "now": now,
        "timeline": timeline(windows, now, is_paused=task.state == Task.State.PAUSED),
        "windows": windows[-60:],
        "next_release": next_release(windows, now),
        "short": shortages(task, now),
        "steps": life_of(task),
        "threads": list(selectors.threads_of(task)),
        "editors": selectors.editors_of(task),
    }


def _content(task: Task) -> dict[str, Any]:
    """What runs, or else what was submitted last, in the compiler's words."""
    revisions = selectors.revisions_with_deciders(task)
    shown = selectors.running_revision(task) or (revisions[0] if revisions else None)
    return {
        "revisions": revisions,
        "newest": revisions[0] if revisions else None,
        "shown": shown,
        "explanation": Documents(shown).explanation if shown else None,
        "description": Documents(shown).spec["description"] if shown else "",
        "facts": impact(None, shown) if shown else [],
        "queries": shown.sql_parts() if shown else {},
        "places": places_named_in(" ".join(shown.sql_parts().values())) if shown else [],
        "in_review": selectors.revision_in_review(task),
    }


def _actions(request: PersonRequest, task: Task) -> dict[str, Any]:
    State = Task.State  # noqa: N806 - a class
    analyst, alive = request.user.has_role(Role.ANALYST), task.state != State.ENDED
    return {
        "may_edit": analyst and alive,
        "may_pause": task.state == State.ACTIVE,
        "may_resume": analyst and task.state == State.PAUSED,
        "may_end": alive,
        "may_duplicate": analyst,
        "comment_form": CommentForm(),
        "duplicate_form": DuplicateForm(),
    }
