"""Who may do what: signed in, with one of the roles, and for programs a token with the scope.

Usable by every app, however low: a person answers `has_role`, a token has `scopes`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.utils.http import url_has_allowed_host_and_scheme
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

View = Callable[..., HttpResponseBase]


def login_required(view: View) -> View:
    """Let in everyone who is signed in; guests are asked to sign in."""

    @wraps(view)
    def protected(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(_afterwards(request))
        return view(request, *args, **kwargs)

    return protected


def role_required(*roles: str) -> Callable[[View], View]:
    """Let in people who hold one of the roles; guests are asked to sign in, others told why not."""

    def protect(view: View) -> View:
        @wraps(view)
        def protected(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_login(_afterwards(request))
            if not request.user.has_role(*roles):
                raise PermissionDenied(f"This page is for people with the role {_or(roles)}.")
            return view(request, *args, **kwargs)

        return protected

    return protect


class SignedIn(BasePermission):
    """Anyone signed in. A token needs the scope `read` to look, and `author` to change."""

    roles: ClassVar[tuple[str, ...]] = ()
    # The scope every call needs, where looking is not enough of a distinction.
    scope: ClassVar[str] = ""
    message = "Sign in, or send a token."

    def has_permission(self, request: Request, view: object) -> bool:
        if not request.user or not request.user.is_authenticated:
            return False
        if self.roles and not request.user.has_role(*self.roles):
            self.message = f"This is for people with the role {_or(self.roles)}."
            return False
        needed = self.scope or ("read" if request.method in SAFE_METHODS else "author")
        if request.auth is not None and needed not in getattr(request.auth, "scopes", ()):
            self.message = f"The token lacks the scope {needed}."
            return False
        return True


def with_role(*roles: str, scope: str = "") -> type[SignedIn]:
    """The permission class for people with one of the roles (and a token with the scope)."""
    return type("WithRole", (SignedIn,), {"roles": roles, "scope": scope})


def _afterwards(request: HttpRequest) -> str:
    """Where signing in leads. What a form sent is not sent again, and its address is no page: then
    back to the page that the form stood on, if that is one of ours."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    came_from = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(
        came_from, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return urlsplit(came_from)._replace(scheme="", netloc="").geturl() if ours else "/"


def _or(roles: tuple[str, ...]) -> str:
    names = [str(role) for role in roles]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
