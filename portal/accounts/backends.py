"""Who is signing in: a name and a password, counted before they are checked."""

from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from portal.accounts.models import Person
from portal.accounts.passwords import record_refusal
from portal.accounts.sign_in import admit, forgive
from portal.addresses import address_of
from portal.clock import civil_clock


class ThrottledBackend(BaseBackend):
    """Django's `authenticate` ends here. Raises TooManyFailures before looking at a password.

    A name that nobody has costs the same work as a wrong password: one password hash and one
    audit entry, which then does not carry the name.
    """

    @sensitive_variables("password")
    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **_: Any,
    ) -> Person | None:
        if not username or password is None:
            return None
        attempt = admit(name=username, address=address_of(request), now=datetime.now(UTC))
        person = Person.objects.filter(username=Person.normalize_username(username)).first()
        reason = _reason_to_refuse(person, password)
        if reason:
            record_refusal(person or attempt, reason, clock=civil_clock())
            return None
        forgive(attempt)
        return person

    def get_user(self, user_id: int) -> Person | None:
        """The person of a session; a deactivated person's sessions end with this."""
        return Person.objects.filter(pk=user_id, is_active=True).first()


@sensitive_variables("password")
def _reason_to_refuse(person: Person | None, password: str) -> str:
    """Empty if the person may come in."""
    if person is None:
        make_password(password)  # the same work as for a name that somebody has
        return "unknown name"
    if not person.check_password(password):
        return "wrong password"
    return "" if person.is_active else "deactivated"
