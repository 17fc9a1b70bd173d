"""Requests: behind `login_required` or `role_required`, somebody is there."""

from django.http import HttpRequest, QueryDict

from portal.accounts.models import Person


class PersonRequest(HttpRequest):
    """For annotations only; Django makes the requests."""

    user: Person


def posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to: what was sent, even if that is nothing at all."""
    return request.POST if request.method == "POST" else None
