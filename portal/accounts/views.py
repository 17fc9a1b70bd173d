"""Signing in and out, and what one can change about oneself."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.views import LoginView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from aggregation.errors import Problem
from portal.access import login_required
from portal.accounts.forms import PasswordForm, ProfileForm, SignInForm
from portal.accounts.models import Person, Role
from portal.accounts.requests import PersonRequest, posted
from portal.accounts.selectors import working_tokens
from portal.accounts.services import change_password, change_profile
from portal.audit.services import record
from portal.clock import civil_clock


@method_decorator(require_http_methods(["GET", "HEAD", "POST"]), name="dispatch")
class SignIn(LoginView):
    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True
    extra_context = {"section": "account", "all_roles": list(Role)}

    def form_valid(self, form: SignInForm) -> HttpResponse:  # type: ignore[override]
        answer = super().form_valid(form)
        _end_in_time(self.request)
        person = form.get_user()
        record(action="sign_in.accepted", subject=person, actor=person, clock=civil_clock())
        return answer

    def form_invalid(self, form: SignInForm) -> HttpResponse:  # type: ignore[override]
        answer = super().form_invalid(form)
        if form.wait_seconds:
            answer.status_code = 429
            answer["Retry-After"] = str(form.wait_seconds)
        return answer


@require_POST
def switch_role(request: HttpRequest) -> HttpResponse:
    """Demo only: become the demo person of a role, without a password."""
    if not settings.DEMO:
        raise Http404
    role = request.POST.get("role", "")
    if role not in Role.values:
        raise Http404
    person = get_object_or_404(Person, username=role, is_active=True)
    login(request, person)
    _end_in_time(request)
    record(action="sign_in.accepted", subject=person, actor=person, clock=civil_clock())
    return redirect("home")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@sensitive_post_parameters("password")
def account(request: PersonRequest) -> HttpResponse:
    # A copy: the frame around the page shows who one is, not what was typed.
    person = Person.objects.get(pk=request.user.pk)
    clock = civil_clock()
    form = ProfileForm(
        request.user, posted(request), instance=person, clock=clock, now=datetime.now(UTC)
    )
    if form.is_valid():
        try:
            change_profile(person=person, changed=form.changed(), clock=clock)
        except Problem as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "Your profile is saved.")
            return redirect("account")
    return render(request, "accounts/account.html", {"section": "account", "form": form})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@sensitive_post_parameters()
def password(request: PersonRequest) -> HttpResponse:
    clock = civil_clock()
    form = PasswordForm(request.user, posted(request), clock=clock, now=datetime.now(UTC))
    if form.is_valid():
        new = form.cleaned_data["new_password1"]
        try:
            had_tokens = change_password(person=request.user, password=new, clock=clock)
        except Problem as problem:
            form.add_error(None, str(problem))
        else:
            update_session_auth_hash(request, request.user)
            ended = "sessions and your API tokens" if had_tokens else "sessions"
            messages.success(request, f"Your password is changed. Your other {ended} have ended.")
            return redirect("account")
    tokens = working_tokens(request.user, now=datetime.now(UTC)).count()
    context = {"section": "account", "form": form, "tokens": tokens}
    return render(request, "accounts/password.html", context)


def _end_in_time(request: HttpRequest) -> None:
    """So long after signing in the session is over, whatever is done in it: Django would begin to
    count again with each message that is left in it, so a stolen one could be kept for ever."""
    end = datetime.now(UTC) + timedelta(seconds=settings.SESSION_COOKIE_AGE)
    request.session.set_expiry(end)
