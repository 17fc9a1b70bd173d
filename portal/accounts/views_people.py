"""People, for operators: who there is, what they may do, and whether they may come in."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from aggregation.errors import Problem
from portal.access import role_required
from portal.accounts import services
from portal.accounts.forms import HeldRolesForm, NewPersonForm, WithPassword
from portal.accounts.models import Person, Role
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
@sensitive_post_parameters("password")
def add_person(request: PersonRequest) -> HttpResponse:
    form = NewPersonForm(request.user, posted(request), **_times())
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
@sensitive_post_parameters("password")
def person(request: PersonRequest, person_id: int) -> HttpResponse:
    found = get_object_or_404(Person, pk=person_id)
    form = _roles_form(request, found, posted(request))
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
    return _page(request, found, form, _letting_in_form(request))


@require_POST
@role_required(Role.OPERATOR)
def deactivate(request: PersonRequest, person_id: int) -> HttpResponse:
    """Asks for no password: it lets nobody in."""
    found = get_object_or_404(Person, pk=person_id)
    try:
        if services.deactivate_person(person=found, actor=request.user, clock=civil_clock()):
            messages.success(request, f"{found} can no longer come in.")
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("person", person_id)


@role_required(Role.OPERATOR)
@require_http_methods(["GET", "HEAD", "POST"])
@cache_control(no_store=True)
@sensitive_post_parameters("password")
def reactivate(request: PersonRequest, person_id: int) -> HttpResponse:
    return _let_in(request, person_id, services.reactivate_person)


@role_required(Role.OPERATOR)
@require_http_methods(["GET", "HEAD", "POST"])
@cache_control(no_store=True)
@sensitive_post_parameters("password")
def reset_password(request: PersonRequest, person_id: int) -> HttpResponse:
    return _let_in(request, person_id, services.give_starting_password)


def _let_in(
    request: PersonRequest, person_id: int, service: Callable[..., services.StartingPassword]
) -> HttpResponse:
    found = get_object_or_404(Person, pk=person_id)
    if request.method != "POST":  # a refused form was loaded again
        return redirect("person", person_id)
    form = _letting_in_form(request, request.POST)
    if not form.is_valid():
        return _page(request, found, _roles_form(request, found), form)
    try:
        given = service(person=found, actor=request.user, clock=civil_clock())
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("person", person_id)
    return _show_password(request, given)


def _page(
    request: PersonRequest, found: Person, form: HeldRolesForm, letting_in: WithPassword
) -> HttpResponse:
    # Named `someone`: `person` is whoever looks at the page.
    context = {"section": "people", "someone": found, "form": form, "letting_in": letting_in}
    context["tokens"] = working_tokens(found, now=datetime.now(UTC)).count()
    return render(request, "accounts/person.html", context)


def _roles_form(
    request: PersonRequest, found: Person, data: QueryDict | None = None
) -> HeldRolesForm:
    held = [str(role) for role in found.roles()]
    initial = {"roles": held, "seen": " ".join(held)}
    return HeldRolesForm(request.user, data, initial=initial, **_times())


def _letting_in_form(request: PersonRequest, data: QueryDict | None = None) -> WithPassword:
    return WithPassword(request.user, data, auto_id="letting_in_%s", **_times())


def _times() -> dict[str, Any]:
    return {"clock": civil_clock(), "now": datetime.now(UTC)}


def _show_password(request: PersonRequest, given: services.StartingPassword) -> HttpResponse:
    """Rendered, not redirected to: the password must not wait in a session or an address."""
    context = {"section": "people", "given": given}
    return render(request, "accounts/starting_password.html", context)
