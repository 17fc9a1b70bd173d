"""The page to read and try the API."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.access import login_required
from portal.accounts.explorer import groups_of
from portal.accounts.requests import PersonRequest
from portal.openapi import document


@require_safe
@login_required
def explorer(request: PersonRequest) -> HttpResponse:
    context = {
        "section": "api",
        "groups": groups_of(document()),
        "origin": request.build_absolute_uri("/").rstrip("/"),
    }
    return render(request, "api/explorer.html", context)
