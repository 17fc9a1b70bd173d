"""Calibration on phones as a page of a task: what was asked, what came of it, what is next."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from aggregation.errors import Problem
from portal.access import role_required
from portal.accounts.models import Role
from portal.accounts.requests import PersonRequest
from portal.clock import civil_clock
from portal.lab.on_devices import services
from portal.lab.on_devices.asking import sliceable, usual_slices
from portal.lab.on_devices.forms import ClipForm, EpsilonForm, ScalesForm, UseForm
from portal.lab.on_devices.selectors import (
    Calibration,
    Subject,
    calibrations_of,
    drafts_of,
    subject_of,
)
from portal.lab.on_devices.showing import Shown, shown
from portal.tasks.finding import find_task
from portal.tasks.models import Task
from portal.tasks.rights import READERS


@require_safe
@role_required(*READERS)
def on_devices(request: PersonRequest, name: str) -> HttpResponse:
    task = find_task(name)
    context: dict[str, Any] = {"section": "lab", "task": task}
    try:
        context |= _about(subject_of(task), may_ask=request.user.has_role(Role.ANALYST))
    except Problem as problem:
        context["problem"] = problem
    return render(request, "lab/on_devices.html", context)


@require_POST
@role_required(Role.ANALYST)
def ask_scales(request: PersonRequest, name: str) -> HttpResponse:
    def ask(subject: Subject) -> Task | None:
        form = ScalesForm(request.POST, keys=sliceable(subject.query))
        if not _is_valid(request, form):
            return None
        given = form.cleaned_data
        return services.ask_for_scales(
            subject=subject,
            by=tuple(given["by"]),
            epsilon=given["epsilon"],
            actor=request.user,
            clock=civil_clock(),
        )

    return _go(request, name, ask)


@require_POST
@role_required(Role.ANALYST)
def ask_clip(request: PersonRequest, name: str) -> HttpResponse:
    def ask(subject: Subject) -> Task | None:
        form = ClipForm(request.POST)
        if not _is_valid(request, form):
            return None
        return services.ask_for_clip(
            subject=subject,
            scaled=_find(subject, form.cleaned_data["scales"], of_scales=True),
            epsilon=form.cleaned_data["epsilon"],
            actor=request.user,
            clock=civil_clock(),
        )

    return _go(request, name, ask)


@require_POST
@role_required(Role.ANALYST)
def use_calibration(request: PersonRequest, name: str) -> HttpResponse:
    def use(subject: Subject) -> Task | None:
        form = UseForm(request.POST)
        if not _is_valid(request, form):
            return None
        services.put_into_draft(
            subject=subject,
            clipped=_find(subject, form.cleaned_data["clip"], of_scales=False),
            quantile=form.cleaned_data["quantile"] / 100,
            actor=request.user,
            clock=civil_clock(),
        )
        messages.success(request, "The draft has these scales and this clip. Submit it for review.")
        return subject.task

    return _go(request, name, use)


def _about(subject: Subject, *, may_ask: bool) -> dict[str, Any]:
    quantile = services.usual_quantile_for(subject.spec)
    found = [shown(one, subject, quantile=quantile) for one in calibrations_of(subject)]
    by = usual_slices(subject.spec, subject.query)
    return {
        "subject": subject,
        "may_ask": may_ask,
        "scales": [_with_form(one, _clip_form) for one in found if one.calibration.is_of_scales],
        "clips": [
            _with_form(one, lambda clip: _use_form(clip, quantile))
            for one in found
            if not one.calibration.is_of_scales
        ],
        "drafts": drafts_of(subject),
        "quantile": f"{100 * quantile:g}",
        "form": ScalesForm(keys=sliceable(subject.query), initial={"by": by}),
    }


def _with_form(one: Shown, form: Callable[[Shown], Any]) -> dict[str, Any]:
    return {"shown": one, "form": form(one)}


def _clip_form(one: Shown) -> EpsilonForm:
    return ClipForm(initial={"scales": one.task.name}, auto_id=f"id_%s_{one.task.pk}")


def _use_form(one: Shown, quantile: float) -> UseForm:
    initial = {"clip": one.task.name, "quantile": round(100 * quantile, 2)}
    return UseForm(initial=initial, auto_id=f"id_%s_{one.task.pk}")


def _find(subject: Subject, name: str, *, of_scales: bool) -> Calibration:
    for one in calibrations_of(subject):
        if one.task.name == name and one.is_of_scales is of_scales:
            return one
    raise Http404(f"{name[:64]} does not calibrate {subject.task.name}.")


def _is_valid(request: PersonRequest, form: Any) -> bool:
    for errors in form.errors.values():
        messages.error(request, " ".join(errors))
    return bool(form.is_valid())


def _go(request: PersonRequest, name: str, do: Callable[[Subject], Task | None]) -> HttpResponse:
    """To the editor of what was made; back, with a sentence, where nothing was."""
    try:
        made = do(subject_of(find_task(name)))
    except Problem as problem:
        messages.error(request, str(problem))
        made = None
    return redirect("edit_task", made.name) if made else redirect("on_devices", name)
