"""What a token may not do, and operators alone may; `portal.access` holds the rest."""

from typing import Any

from rest_framework.request import Request

from portal.access import SignedIn, with_role
from portal.accounts.models import Role, Scope


class InPerson(SignedIn):
    """Signed in with a password. No token passes, whatever its scopes.

    For what a leaked token must never be able to do: make or end tokens, change a password,
    approve.
    """

    in_person = True

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.auth is not None:
            self.message = "A token cannot do this: sign in with your password."
            return False
        return super().has_permission(request, view)


# Operators, or their tokens with the scope `operate`.
Operating = with_role(Role.OPERATOR, scope=Scope.OPERATE)
