"""A person's API tokens. A new token's secret is in one answer and nowhere else."""

from datetime import UTC, datetime
from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from aggregation.errors import Problem
from portal.access import login_required
from portal.accounts.forms import TokenForm
from portal.accounts.requests import PersonRequest, posted
from portal.accounts.selectors import tokens_of
from portal.accounts.tokens import NewToken, create_token, revoke_token
from portal.clock import civil_clock


@require_http_methods(["GET", "HEAD", "POST"])
@cache_control(no_store=True)
@login_required
@sensitive_post_parameters("password")
def tokens(request: PersonRequest) -> HttpResponse:
    now = datetime.now(UTC)
    new_form = partial(TokenForm, request.user, clock=civil_clock(), now=now)
    form = new_form(posted(request))
    created = _create(request, form) if form.is_valid() else None
    context = {
        "section": "account",
        "form": new_form() if created else form,
        "created": created,
        "tokens": tokens_of(request.user, now=now),
    }
    # Rendered, not redirected to: the secret must not wait in a session or an address.
    return render(request, "accounts/tokens.html", context)


@require_POST
@login_required
def revoke(request: PersonRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(request.user.tokens.select_related("owner"), pk=token_id)
    if revoke_token(token=token, actor=request.user, clock=civil_clock()):
        messages.success(request, f"The token {token.name!r} is revoked. It no longer works.")
    return redirect("tokens")


def _create(request: PersonRequest, form: TokenForm) -> NewToken | None:
    try:
        return create_token(owner=request.user, clock=civil_clock(), **form.wanted())
    except Problem as problem:
        form.add_error("name", str(problem))
        return None
