"""The lab's pages: studies, one study with its progress and result, two side by side."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.forms import Form
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from aggregation.errors import Problem
from portal.access import role_required
from portal.accounts.models import Person, Role
from portal.accounts.requests import PersonRequest
from portal.clock import civil_clock
from portal.lab import selectors, services, using
from portal.lab.drifting.reading import drifts
from portal.lab.forms import FORMS, CompareForm, LoadForm
from portal.lab.models import Study
from portal.lab.on_devices.selectors import askable
from portal.lab.services import STUDENTS
from portal.lab.showing import page
from portal.lab.showing.cells import as_csv, side_by_side
from portal.tasks.finding import find_task


@require_safe
@never_cache
@role_required(*STUDENTS)
def lab(request: PersonRequest) -> HttpResponse:
    return _lab(request)


@require_POST
@role_required(*STUDENTS)
def ask(request: PersonRequest, kind: str) -> HttpResponse:
    if kind not in FORMS:
        raise Http404("There is no such study.")
    form = FORMS[kind](request.POST)
    if not form.is_valid():
        return _lab(request, {kind: form}, status=400)
    try:
        study = services.ask_for_study(
            kind=kind, parameters=form.cleaned_data, actor=request.user, clock=civil_clock()
        )
    except Problem as problem:
        form.add_error(None, str(problem))
        return _lab(request, {kind: form}, status=400)
    return redirect("study", study.pk)


@require_safe
@never_cache
@role_required(*STUDENTS)
def study(request: PersonRequest, pk: int) -> HttpResponse:
    found = selectors.find_study(pk)
    context = {
        "section": "lab",
        "study": found,
        "asked": page.asked(found),
        "took": page.took(found),
        "may_cancel": services.may_cancel(found, request.user),
        "before": selectors.place_in_line(found) if found.state == Study.State.WAITING else 0,
        "others": selectors.alike(found)[:20],
        **page.shown(found),
        **_uses(found, request.user),
    }
    return render(request, "lab/study.html", context)


@require_POST
@role_required(*STUDENTS)
def load(request: PersonRequest) -> HttpResponse:
    form = LoadForm(request.POST, auto_id="id_load_%s")
    if not form.is_valid():
        return _lab(request, {"load": form}, status=400)
    text = form.cleaned_data["text"]
    try:
        made = services.load_study(text=text, actor=request.user, clock=civil_clock())
    except Problem as problem:
        form.add_error(None, str(problem))
        return _lab(request, {"load": form}, status=400)
    return redirect("study", made.pk)


@require_POST
@role_required(Role.ANALYST)
def use(request: PersonRequest, pk: int) -> HttpResponse:
    """Put a calibration into a draft."""
    found, task = selectors.find_study(pk), find_task(request.POST.get("task", ""))
    try:
        using.put_into_draft(study=found, task=task, actor=request.user, clock=civil_clock())
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("study", pk)
    messages.success(request, "The draft has these parameters. Submit it for review.")
    return redirect("edit_task", task.name)


@require_POST
@role_required(*STUDENTS)
def cancel(request: PersonRequest, pk: int) -> HttpResponse:
    found = selectors.find_study(pk)
    try:
        services.cancel_study(study=found, actor=request.user, clock=civil_clock())
        messages.success(request, "The study is cancelled.")
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("study", pk)


@require_safe
@role_required(*STUDENTS)
def export(request: PersonRequest, pk: int, form: str) -> HttpResponse:
    found = selectors.find_study(pk)
    if found.result is None or form not in ("csv", "json"):
        raise Http404("There is no such file of the study.")
    if form == "csv":
        answer = HttpResponse(as_csv(found), content_type="text/csv; charset=utf-8")
    else:
        whole = {"kind": found.kind, "parameters": found.parameters, "result": found.result}
        answer = JsonResponse(whole, json_dumps_params={"indent": 2, "ensure_ascii": False})
    answer["Content-Disposition"] = f'attachment; filename="study-{pk}.{form}"'
    return answer


@require_safe
@never_cache
@role_required(*STUDENTS)
def compare(request: PersonRequest) -> HttpResponse:
    form = CompareForm(request.GET or None)
    context: dict[str, Any] = {"section": "lab", "form": form}
    if form.is_valid():
        try:
            context |= _both(form)
        except Problem as problem:
            form.add_error(None, str(problem))
    return render(request, "lab/compare.html", context, status=400 if form.errors else 200)


@require_safe
@never_cache
@role_required(*STUDENTS)
def drift(request: PersonRequest) -> HttpResponse:
    """Whether calibrations still fit what is released."""
    return render(request, "lab/drift.html", {"section": "lab", "drifts": drifts()})


def _uses(found: Study, person: Person) -> dict[str, Any]:
    """For analysts, the drafts that a calibration may go into."""
    if found.kind != Study.Kind.CALIBRATION or found.result is None:
        return {}
    if not person.has_role(Role.ANALYST):
        return {"may_use": False}
    return {"may_use": True, "drafts": using.drafts_for(study=found, person=person)}


def _both(form: Form) -> dict[str, Any]:
    pair = [Study.objects.filter(pk=form.cleaned_data[name]).first() for name in form.fields]
    first, second = pair
    if first is None or second is None:
        raise Problem("There is no such study.", hint="The lab's page lists their numbers.")
    if first.kind != second.kind:
        raise Problem("These are studies of two kinds: their figures have nothing in common.")
    if first.result is None or second.result is None:
        raise Problem("One of them has no result.")
    tables = side_by_side(first, second)
    return {"first": first, "second": second, "tables": tables, "asked": page.both(first, second)}


def _lab(
    request: PersonRequest, forms: dict[str, Form] | None = None, *, status: int = 200
) -> HttpResponse:
    bound = forms or {}
    context = {
        "section": "lab",
        "page": Paginator(selectors.studies(), 20).get_page(request.GET.get("page")),
        "forms": {
            kind: bound.get(kind) or form(auto_id=f"id_{kind}_%s") for kind, form in FORMS.items()
        },
        "askable": askable(),
        "load_form": bound.get("load") or LoadForm(auto_id="id_load_%s"),
        "wrong": next(iter(bound), ""),
    }
    return render(request, "lab/lab.html", context, status=status)
