"""Who may come in: people who are signed in, and guests where there are public releases."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers

View = Callable[..., HttpResponseBase]
# What asks for a part of a page at the page's own address. No cache may take one for the other.
_PARTS = ("HX-Request", "X-Suggest")


def guests_welcome(view: View) -> View:
    """A guest who asks for what is not public is asked to sign in, whether it is there or not."""

    @wraps(view)
    def visited(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return _varied(view(request, *args, **kwargs))
        if not settings.PUBLIC_RELEASES:
            return redirect_to_login(request.get_full_path())
        try:
            return _varied(view(request, *args, **kwargs))
        except Http404:
            return redirect_to_login(request.get_full_path())

    return visited


def _varied(response: HttpResponseBase) -> HttpResponseBase:
    patch_vary_headers(response, _PARTS)
    return response
