"""Adding people, what they may do, and whether they may come in."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.db import transaction

from aggregation.clock import Clock
from aggregation.errors import Problem
from portal.accounts.models import Grant, Person, Role
from portal.accounts.passwords import refuse_late
from portal.accounts.tokens import revoke_tokens_of
from portal.audit.services import Change, record
from portal.problems import Conflict

# Without letters and digits that look alike; 20 of them are 98 random bits.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class StartingPassword:
    """A password someone else chose. It is shown once; its owner must replace it."""

    person: Person
    password: str = field(repr=False)


@transaction.atomic
def add_person(
    *,
    username: str,
    roles: Collection[Role],
    clock: Clock,
    actor: Person | None = None,
    full_name: str = "",
    email: str = "",
) -> StartingPassword:
    """Add someone with a random starting password. Without an actor, a command did it."""
    _refuse_late_operator(actor)
    password = _random_password()
    person = Person(full_name=full_name, email=email, must_change_password=True)
    person.username = Person.normalize_username(username)
    person.set_password(password)
    _check(person)
    person.save()
    record(action="person.added", subject=person, actor=actor, clock=clock)
    change_roles(person=person, roles=roles, actor=actor, clock=clock)
    return StartingPassword(person, password)


@transaction.atomic
def change_roles(
    *,
    person: Person,
    roles: Collection[Role],
    clock: Clock,
    actor: Person | None,
    seen: Collection[str] | None = None,
) -> bool:
    """Make these the person's roles: grant what is missing, withdraw the rest. True if any was.

    `seen` are those that the actor has seen: on an older page a role that another operator has
    withdrawn since is still ticked, and would be granted again.
    """
    _refuse_late_operator(actor)
    held = {Role(role) for role in person.grants.values_list("role", flat=True)}
    if seen is not None and held != set(seen):
        raise Conflict(
            f"The roles of {person.known_as} were changed meanwhile; these are the present ones.",
            hint="Choose again.",
        )
    granted = [role for role in Role if role in roles and role not in held]
    withdrawn = [role for role in Role if role in held and role not in roles]
    Grant.objects.bulk_create(Grant(person=person, role=role) for role in granted)
    person.grants.filter(role__in=withdrawn).delete()
    _refuse_to_be_without_operators(changed=Role.OPERATOR in withdrawn)
    person.forget_roles()
    for action, changed in (("role.granted", granted), ("role.withdrawn", withdrawn)):
        for role in changed:
            change = Change("role", *((None, role) if action == "role.granted" else (role, None)))
            record(action=action, subject=person, actor=actor, clock=clock, changes=[change])
    return bool(granted or withdrawn)


@transaction.atomic
def deactivate_person(*, person: Person, actor: Person, clock: Clock) -> bool:
    """Keep someone out from their next click on; their tokens end, their history stays."""
    if person.pk == actor.pk:
        raise Problem("You cannot deactivate yourself.", hint="Ask another operator to do it.")
    _lock_operators()
    if not Person.objects.filter(pk=person.pk, is_active=True).update(is_active=False):
        return False
    _refuse_to_be_without_operators(changed=True)
    person.is_active = False
    revoke_tokens_of(person, actor=actor, clock=clock)
    _record_activity(person, actor, clock, "person.deactivated")
    return True


@transaction.atomic
def reactivate_person(*, person: Person, actor: Person, clock: Clock) -> StartingPassword:
    """Let somebody in again, with a password that nobody else has had: whoever had the old one, a
    session or a token must not come back with its owner."""
    _refuse_late_operator(actor)
    if not Person.objects.filter(pk=person.pk, is_active=False).update(is_active=True):
        raise Conflict(
            f"{person.known_as} can come in already.",
            hint="Give a new starting password if theirs is lost.",
        )
    person.is_active = True
    given = give_starting_password(person=person, actor=actor, clock=clock)
    _record_activity(person, actor, clock, "person.reactivated")
    return given


@transaction.atomic
def give_starting_password(*, person: Person, actor: Person, clock: Clock) -> StartingPassword:
    """For someone who forgot theirs, or whose account is not safe: all their sessions and tokens
    end, and the next sign-in asks for a new one. The audit log says who did it."""
    if person.pk == actor.pk:
        raise Problem("You know your password.", hint="Change it under My account.")
    _refuse_late_operator(actor)
    password = _random_password()
    person.set_password(password)
    person.must_change_password = True
    person.save(update_fields=["password", "must_change_password"])
    revoke_tokens_of(person, actor=actor, clock=clock)
    record(action="password.reset", subject=person, actor=actor, clock=clock)
    return StartingPassword(person, password)


@transaction.atomic
def change_password(*, person: Person, password: str, clock: Clock) -> bool:
    """A person's own choice. Their other sessions end, and all their tokens: who had the old
    password may have made one. True if there was a token.

    A starting password that was given meanwhile stays: it keeps out who knew the old one.
    """
    refuse_late(person)
    person.set_password(password)
    person.must_change_password = False
    person.save(update_fields=["password", "must_change_password"])
    had_tokens = revoke_tokens_of(person, actor=person, clock=clock)
    record(action="password.changed", subject=person, actor=person, clock=clock)
    return had_tokens


@transaction.atomic
def change_profile(*, person: Person, changed: Collection[str], clock: Clock) -> None:
    """Save what the person says about themselves.

    The log names the fields and not what is in them: it cannot be cleaned, and an old e-mail
    address is nobody's business.
    """
    if changed:
        refuse_late(person)
        person.save(update_fields=list(changed))
        change = Change("fields", None, ", ".join(changed))
        record(action="person.changed", subject=person, actor=person, clock=clock, changes=[change])


def _check(person: Person) -> None:
    try:
        person.full_clean()
    except ValidationError as error:
        name, sentences = next(iter(error.message_dict.items()))
        message = f"{getattr(person, name, '')!r} is not a valid {name.replace('_', ' ')}."
        raise Problem(message, hint=sentences[0]) from None


def _refuse_late_operator(actor: Person | None) -> None:
    """Who was an operator when their request began may have been deactivated since, or have lost
    the role. Called first: all operators are locked before anybody else is, and before the log."""
    _lock_operators()
    if actor is None:
        return
    refuse_late(actor)
    actor.forget_roles()
    if not actor.has_role(Role.OPERATOR):
        raise Conflict("You are no longer an operator.", hint="Another operator can do it.")


def _lock_operators() -> None:
    """Two operators who withdraw each other's role at once wait for each other here. Nobody else
    waits (`no_key`): who holds the log may tell an operator something meanwhile."""
    operators = Person.objects.filter(grants__role=Role.OPERATOR).order_by("pk")
    list(operators.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))


def _refuse_to_be_without_operators(*, changed: bool) -> None:
    """Asked after the change, in a statement of its own, so that it sees what others committed."""
    if changed and not Grant.objects.filter(role=Role.OPERATOR, person__is_active=True).exists():
        raise Problem(
            "Nobody would be left to keep the system running: this is the last operator.",
            hint="Make someone else an operator first.",
        )


def _record_activity(person: Person, actor: Person, clock: Clock, action: str) -> None:
    change = Change("active", not person.is_active, person.is_active)
    record(action=action, subject=person, actor=actor, clock=clock, changes=[change])


def _random_password() -> str:
    groups = ("".join(secrets.choice(_ALPHABET) for _ in range(5)) for _ in range(4))
    return "-".join(groups)
