"""Asking people who are signed in for their password once more, where a borrowed screen or a
stolen session must not be enough."""

from datetime import datetime

from django.contrib.auth.hashers import check_password
from django.views.decorators.debug import sensitive_variables

from aggregation.clock import Clock
from aggregation.errors import Problem
from portal.accounts.models import LoginFailure, Person
from portal.accounts.sign_in import admit, forgive
from portal.audit.services import Change, record
from portal.problems import Conflict


@sensitive_variables("password")
def require_password(
    person: Person, password: str, *, clock: Clock, now: datetime, may_be_starting: bool = False
) -> None:
    """Counted and on record like a sign-in. `now` is machine time.

    A password that someone else chose will not do, unless it `may_be_starting`: where it is being
    replaced. Called before a transaction is open, so that a failure is counted whatever happens
    next. Nothing at all is nobody's password and no guess, so it is not counted.
    """
    if not password:
        raise Problem("Type your password.")
    attempt = admit(name=person.username, address="", now=now)
    held = Person.objects.get(pk=person.pk)
    allowed = held.is_active and (may_be_starting or not held.must_change_password)
    # Not `held.check_password`: that may renew the hash, which would end the person's sessions.
    if not allowed or not check_password(password, held.password):
        record_refusal(held, "wrong password", clock=clock)
        raise Problem("This is not your password.", hint="Type the one you sign in with.")
    forgive(attempt)


def refuse_late(person: Person) -> None:
    """In a request that began before the password changed or the account ended, nothing is done
    that a good password was given for: no token is made, nobody is let in, nothing is approved, and
    no other password takes its place.

    They wait here for each other, and who comes second sees what the first one did. Nobody else
    waits (`no_key`): others may name this person meanwhile.
    """
    held = Person.objects.select_for_update(no_key=True).get(pk=person.pk)
    if held.password != person.password or not held.is_active:
        raise Conflict("Your password was changed just now.", hint="Sign in again.")


def record_refusal(subject: Person | LoginFailure, reason: str, *, clock: Clock) -> None:
    """A password was not taken, at the door or inside."""
    change = Change("reason", None, reason)
    record(action="sign_in.refused", subject=subject, clock=clock, changes=[change])
