"""People, for operators: who there is, what they may do, and whether they may come in."""

from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from aggregation.errors import Problem
from portal.accounts import services
from portal.accounts.forms import HeldRolesForm, NewPersonForm
from portal.accounts.models import Person, Role
from portal.accounts.permissions import role_required
from portal.accounts.requests import PersonRequest, posted
from portal.accounts.selectors import everyone, working_tokens
from portal.clock import civil_clock
from portal.problems import Conflict


@role_required(Role.OPERATOR)
@require_safe
def people(request: PersonRequest) -> HttpResponse:
    page = Paginator(everyone(), 100).get_page(request.GET.get("page"))
    context = {"section": "people", "page": page}
    return render(request, "accounts/people.html", context)


@role_required(Role.OPERATOR)
@require_http_methods(["GET", "HEAD", "POST"])
@cache_control(no_store=True)
def add_person(request: PersonRequest) -> HttpResponse:
    form = NewPersonForm(posted(request))
    if form.is_valid():
        try:
            given = services.add_person(
                **{name: form.cleaned_data[name] for name in ("username", "full_name", "email")},
                roles=form.chosen(), actor=request.user, clock=civil_clock(),
            )  # fmt: skip
        except Problem as problem:
            form.add_error(None, str(problem))
        else:
            return _show_password(request, given)
    return render(request, "accounts/add_person.html", {"section": "people", "form": form})


@role_required(Role.OPERATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def person(request: PersonRequest, person_id: int) -> HttpResponse:
    found = get_object_or_404(Person, pk=person_id)
    held = [str(role) for role in found.roles()]
    form = HeldRolesForm(posted(request), initial={"roles": held, "seen": " ".join(held)})
    if form.is_valid():
        try:
            services.change_roles(
                person=found,
                roles=form.chosen(),
                actor=request.user,
                clock=civil_clock(),
                seen=form.seen_roles(),
            )
        except Conflict as problem:
            messages.error(request, str(problem))
            return redirect("person", person_id)
        except Problem as problem:
            form.add_error("roles", str(problem))
        else:
            messages.success(request, f"The roles of {found} are saved.")
            # Who has just stepped down may not see this page again.
            stays = found.pk != request.user.pk or found.has_role(Role.OPERATOR)
            return redirect("person", person_id) if stays else redirect("home")
    # Named `someone`: `person` is whoever looks at the page.
    tokens = working_tokens(found, now=datetime.now(UTC)).count()
    context = {"section": "people", "someone": found, "form": form, "tokens": tokens}
    return render(request, "accounts/person.html", context)


@require_POST
@role_required(Role.OPERATOR)
def deactivate(request: PersonRequest, person_id: int) -> HttpResponse:
    return _change(request, person_id, services.deactivate_person, "{} can no longer come in.")


@require_POST
@role_required(Role.OPERATOR)
def reactivate(request: PersonRequest, person_id: int) -> HttpResponse:
    return _change(request, person_id, services.reactivate_person, "{} can come in again.")


@require_POST
@role_required(Role.OPERATOR)
@cache_control(no_store=True)
def reset_password(request: PersonRequest, person_id: int) -> HttpResponse:
    found = get_object_or_404(Person, pk=person_id)
    try:
        given = services.give_starting_password(
            person=found, actor=request.user, clock=civil_clock()
        )
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("person", person_id)
    return _show_password(request, given)


def _change(request: PersonRequest, person_id: int, service: Any, sentence: str) -> HttpResponse:
    found = get_object_or_404(Person, pk=person_id)
    try:
        if service(person=found, actor=request.user, clock=civil_clock()):
            messages.success(request, sentence.format(found))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("person", person_id)


def _show_password(request: PersonRequest, given: services.StartingPassword) -> HttpResponse:
    """Rendered, not redirected to: the password must not wait in a session or an address."""
    context = {"section": "people", "given": given}
    return render(request, "accounts/starting_password.html", context)
