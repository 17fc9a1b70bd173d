"""Reviewing: the inbox, and one revision with everything a second person needs to decide."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from aggregation.compiler.compile import Compiled, compile_spec
from aggregation.errors import Problem
from aggregation.protocol.spec_reading import read_spec
from portal.access import role_required
from portal.accounts.models import Role
from portal.accounts.requests import PersonRequest
from portal.clock import civil_clock
from portal.problems import Conflict
from portal.streams.selectors import installed_catalog
from portal.tasks import selectors, services
from portal.tasks.changes import changes_between
from portal.tasks.checking import checks
from portal.tasks.costing import effects
from portal.tasks.finding import find_revision_by_id
from portal.tasks.forecast import Forecast, forecast
from portal.tasks.forms import CommentForm, DecisionForm
from portal.tasks.impact import impact
from portal.tasks.models import Comment, Revision
from portal.tasks.provenance import in_words, provenance_of
from portal.tasks.reading import Documents
from portal.tasks.rights import READERS, why_not_approver
from portal.tasks.sql_diff import Row, side_by_side
from portal.tasks.sql_places import places_named_in

_DECISIONS = {
    "approve": "Approved. The task runs from the next window on.",
    "changes": "Sent back. The author is told what you ask for.",
    "reject": "Rejected. The author is told why.",
}
# What became of the revision that another one is compared with.
_DECIDED: dict[str, str] = {
    Revision.State.APPROVED: "which was approved before",
    Revision.State.CHANGES_REQUESTED: "for which changes were asked",
    Revision.State.REJECTED: "which was rejected",
    Revision.State.WITHDRAWN: "which was withdrawn",
}


@require_safe
@role_required(*READERS)
def review(request: PersonRequest) -> HttpResponse:
    yours = list(selectors.revisions_awaiting(request.user))
    is_reviewer = request.user.has_role(Role.REVIEWER)
    mine = {revision.pk for revision in yours} if is_reviewer else set()
    waiting = list(selectors.revisions_in_review())
    context = {
        "section": "review",
        "yours": [revision for revision in waiting if revision.pk in mine],
        "others": [revision for revision in waiting if revision.pk not in mine],
        "is_reviewer": is_reviewer,
    }
    return render(request, "tasks/review.html", context)


@never_cache
@require_safe
@role_required(*READERS)
def review_revision(request: PersonRequest, pk: int) -> HttpResponse:
    return _page(request, find_revision_by_id(pk))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
@role_required(Role.REVIEWER)
def decide(request: PersonRequest, pk: int) -> HttpResponse:
    if request.method != "POST":  # a refused form was loaded again
        return redirect("review_revision", pk)
    revision, form = find_revision_by_id(pk), DecisionForm(request.POST)
    decision = request.POST.get("decision", "")
    if not form.is_valid() or decision not in _DECISIONS:
        return _page(request, revision, form, status=400)
    try:
        _decide(request, revision, decision, form.cleaned_data)
    except Problem as problem:
        form.add_error(None, str(problem))
        status = 409 if isinstance(problem, Conflict) else 400
        return _page(request, find_revision_by_id(pk), form, status=status)
    messages.success(request, _DECISIONS[decision])
    return redirect("task", revision.task.name)


def _decide(
    request: PersonRequest, revision: Revision, decision: str, given: dict[str, Any]
) -> None:
    password = given.pop("password")
    common = {"revision": revision, "actor": request.user, "clock": civil_clock(), **given}
    if decision == "approve":
        services.approve(password=password, **common)
    elif decision == "changes":
        services.ask_for_changes(**common)
    else:
        services.reject(**common)


def _page(
    request: PersonRequest,
    revision: Revision,
    form: DecisionForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    before = selectors.approved_before(revision) or selectors.decided_before(revision)
    documents = Documents(revision)
    threads = list(selectors.threads_of(revision.task))
    own = [thread for thread in threads if thread.revision_id == revision.pk]
    weeks = effects(revision, civil_clock().now()) if _waits(revision) else []
    queries = _queries(before, revision, own)
    context = {
        "section": "review",
        "revision": revision,
        "task": revision.task,
        "before": before,
        "decided": _DECIDED[before.state] if before else "",
        "description": documents.spec["description"],
        "explanation": documents.explanation,
        "provenance": _provenance(revision),
        "facts": impact(before, revision),
        # A query over facts of the device stands here too: it is none of those side by side.
        "changed": [c for c in changes_between(before, revision) if c.path not in queries],
        "queries": queries,
        "places": places_named_in(" ".join(revision.sql_parts().values())),
        "threads": [thread for thread in own if not thread.part],
        "earlier": [thread for thread in threads if thread.revision_id != revision.pk],
        "effects": weeks,
        "checks": checks(revision, request.user, weeks, threads) if _waits(revision) else [],
        "waits": _waits(revision),
        "why_not": why_not_approver(revision, request.user),
        "form": form or DecisionForm(initial={"seen": revision.content_sha256}),
        "comment_form": _comment_form(request, revision),
        **_forecast(revision),
    }
    return render(request, "tasks/review_revision.html", context, status=status)


def _provenance(revision: Revision) -> list[tuple[str, str]]:
    found = provenance_of(revision)
    return in_words(found) if found else []


def _waits(revision: Revision) -> bool:
    return revision.state == Revision.State.IN_REVIEW


def _queries(
    before: Revision | None, after: Revision, threads: Sequence[Comment]
) -> dict[str, list[Row]]:
    """Each query beside the earlier one; beside itself, without marks, if there is none."""
    old = before.sql_parts() if before else {}
    return {
        part: side_by_side(
            old.get(part, "") if before else sql,
            sql,
            [thread for thread in threads if thread.part == part],
        )
        for part, sql in after.sql_parts().items()
    }


def _comment_form(request: PersonRequest, revision: Revision) -> CommentForm:
    """On a line, where the address names one."""
    part, line = request.GET.get("part", ""), request.GET.get("line", "")
    lines = revision.sql_parts().get(part, "").splitlines()
    on_line = line.isdecimal() and 1 <= int(line) <= len(lines)
    place = {"part": part, "line": int(line)} if on_line else {}
    return CommentForm(initial={"revision": revision.pk, **place}, auto_id="id_comment_%s")


def _forecast(revision: Revision) -> dict[str, Forecast | Any]:
    catalog = installed_catalog()
    compiled = compile_spec(read_spec(revision.spec_text), catalog)
    if not isinstance(compiled, Compiled):
        return {}
    return {"forecast": forecast(compiled, catalog), "config": compiled.server_config}
