"""What people do with a task on its page. Each finds, calls one service, and goes back."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from aggregation.errors import Problem
from portal.access import role_required
from portal.accounts.models import Role
from portal.accounts.requests import PersonRequest
from portal.clock import civil_clock
from portal.tasks import selectors, services
from portal.tasks.finding import find_comment, find_revision_by_id, find_task
from portal.tasks.forms import CommentForm, DuplicateForm, ReasonForm
from portal.tasks.models import Comment, Task
from portal.tasks.rights import READERS


@require_POST
@role_required(*READERS)
def pause_task(request: PersonRequest, name: str) -> HttpResponse:
    task = find_task(name)
    done = _attempt(request, services.pause, task=task, reason=_reason(request))
    _say(request, done, "The task is paused. Nothing is collected from now on.")
    return redirect("task", name)


@require_POST
@role_required(*READERS)
def end_task(request: PersonRequest, name: str) -> HttpResponse:
    task = find_task(name)
    done = _attempt(request, services.end, task=task, reason=_reason(request))
    _say(request, done, "The task has ended. What its later windows would have cost is free again.")
    return redirect("task", name)


@require_POST
@role_required(Role.ANALYST)
def resume_task(request: PersonRequest, name: str) -> HttpResponse:
    done = _attempt(request, services.resume_request, task=find_task(name))
    _say(request, done, "A second person decides whether it runs again, from the next window on.")
    return redirect("task", name)


@require_POST
@role_required(Role.ANALYST)
def withdraw_task(request: PersonRequest, name: str) -> HttpResponse:
    """The revision that the page showed: another one may have taken its place since."""
    task, shown = find_task(name), request.POST.get("revision", "")
    revision = selectors.revision_in_review(task)
    if revision is not None and shown and shown != str(revision.number):
        messages.error(request, f"Revision {revision.number} is in review by now. Read it first.")
    elif revision is not None:
        done = _attempt(request, services.withdraw, revision=revision)
        _say(request, done, "It is no longer in review.")
    return redirect("task", name)


@require_POST
@role_required(Role.ANALYST)
def duplicate_task(request: PersonRequest, name: str) -> HttpResponse:
    form = DuplicateForm(request.POST)
    task = find_task(name)
    if not form.is_valid():
        messages.error(request, "Give the new task a name.")
        return redirect("task", name)
    copy = _attempt(request, services.duplicate_task, task=task, name=form.cleaned_data["name"])
    return redirect("edit_task", copy.name) if copy else redirect("task", name)


@require_POST
@role_required(*READERS)
def comment_on_task(request: PersonRequest, name: str) -> HttpResponse:
    task, form = find_task(name), CommentForm(request.POST)
    if not form.is_valid():
        messages.error(request, "The comment is empty or too long.")
        return redirect(_back(task, None, request))
    said = _attempt(request, services.comment, task=task, **_place(task, form.cleaned_data))
    return redirect(_back(task, said or None, request))


@require_POST
@role_required(*READERS)
def settle_thread(request: PersonRequest, name: str, pk: int, settled: bool) -> HttpResponse:
    task = find_task(name)
    thread = find_comment(task, pk)
    service = services.resolve if settled else services.unresolve
    _attempt(request, service, thread=thread)
    return redirect(_back(task, thread, request))


def _attempt(request: PersonRequest, service: Callable[..., Any], **given: Any) -> Any:
    """What the service gives; False, and the problem's sentence on the page, if it refuses."""
    try:
        return service(actor=request.user, clock=civil_clock(), **given)
    except Problem as problem:
        messages.error(request, str(problem))
        return False


def _say(request: PersonRequest, done: Any, sentence: str) -> None:
    if done is not False:
        messages.success(request, sentence)


def _reason(request: PersonRequest) -> str:
    form = ReasonForm(request.POST)
    return form.cleaned_data["reason"] if form.is_valid() else ""


def _place(task: Task, given: dict[str, Any]) -> dict[str, Any]:
    thread, revision = given["thread"], given["revision"]
    return {
        "text": given["text"],
        "part": given["part"],
        "line": given["line"],
        "thread": find_comment(task, thread) if thread else None,
        "revision": find_revision_by_id(revision) if revision else None,
    }


def _back(task: Task, said: Comment | None, request: PersonRequest) -> str:
    """To the page it was said on, at the thread."""
    on_review = request.POST.get("page") == "review"
    if said is not None and said.revision_id and on_review:
        page = reverse("review_revision", args=[said.revision_id])
    else:
        page = reverse("task", args=[task.name])
    return f"{page}#comment-{said.pk}" if said is not None else f"{page}#comments"
