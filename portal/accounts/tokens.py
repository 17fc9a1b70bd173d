"""Tokens for a person's programs: made, found by their secret, revoked."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.db import transaction

from aggregation.clock import Clock
from aggregation.errors import Problem
from portal.accounts.models import ApiToken, Person, Scope
from portal.accounts.passwords import refuse_late
from portal.audit.services import Change, move, record
from portal.problems import Conflict

LIFETIMES_DAYS = (30, 90, 365)
_MARK = "mfly_"
_SHOWN_CHARACTERS = len(_MARK) + 6


@dataclass(frozen=True)
class NewToken:
    """A token and its secret, which exists only here: it is shown once and stored nowhere."""

    token: ApiToken
    secret: str = field(repr=False)


def create_token(
    *, owner: Person, name: str, scopes: Sequence[str], lifetime_days: int, clock: Clock
) -> NewToken:
    """Make a token with 256 random bits as its secret, of which only the hash is kept.

    A plain SHA-256 is enough: nobody can search 2²⁵⁶ secrets, as one could passwords.
    """
    _check(scopes, lifetime_days)
    secret = _MARK + secrets.token_urlsafe(32)
    now = datetime.now(UTC)
    with transaction.atomic():
        refuse_late(owner)
        if owner.tokens.filter(name=name, state=ApiToken.State.ACTIVE).exists():
            raise Conflict(
                f"You have an active token named {name!r} already.",
                hint="Choose another name, or revoke that one first.",
            )
        token = ApiToken.objects.create(
            owner=owner,
            name=name,
            scopes=[str(scope) for scope in Scope if scope in scopes],
            prefix=secret[:_SHOWN_CHARACTERS],
            sha256=digest(secret),
            created_at=now,
            expires_at=now + timedelta(days=lifetime_days),
        )
        _record_creation(token, lifetime_days, clock)
    return NewToken(token, secret)


def revoke_token(*, token: ApiToken, actor: Person, clock: Clock) -> bool:
    """End a token at once and for good. False if it had been revoked already."""
    if token.state == ApiToken.State.REVOKED:
        return False
    return move(token, to=ApiToken.State.REVOKED, actor=actor, clock=clock, action="token.revoked")


def revoke_tokens_of(person: Person, *, actor: Person, clock: Clock) -> bool:
    """End every token of a person, in the caller's transaction. True if there was one.

    Called before anything else is recorded: all rows are locked before the log is, as they are
    where their owner revokes one, so that the two never wait for each other.
    """
    active = person.tokens.filter(state=ApiToken.State.ACTIVE).order_by("pk")
    ended = [
        revoke_token(token=token, actor=actor, clock=clock)
        for token in list(active.select_for_update())
    ]
    return any(ended)


def token_with_secret(secret: str) -> ApiToken | None:
    """One hash and one query, whatever the secret is."""
    return ApiToken.objects.select_related("owner").filter(sha256=digest(secret)).first()


def note_use(*, token: ApiToken, now: datetime) -> None:
    """Remember the day, not the moment: one write a day, and no diary of a person's work."""
    if token.last_used_on != now.date():
        ApiToken.objects.filter(pk=token.pk).update(last_used_on=now.date())


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _check(scopes: Sequence[str], lifetime_days: int) -> None:
    if not scopes:
        raise Problem("A token without scopes can do nothing.", hint="Choose at least one.")
    if unknown := [scope for scope in scopes if scope not in Scope.values]:
        raise Problem(
            f"There is no scope {unknown[0]!r}.", hint=f"There are: {', '.join(Scope.values)}."
        )
    if lifetime_days not in LIFETIMES_DAYS:
        raise Problem(
            f"A token cannot live for {lifetime_days} days.", hint="Choose 30, 90 or 365 days."
        )


def _record_creation(token: ApiToken, lifetime_days: int, clock: Clock) -> None:
    record(
        action="token.created",
        subject=token,
        actor=token.owner,
        clock=clock,
        changes=[
            Change("scopes", None, ", ".join(token.scopes)),
            Change("lifetime_days", None, lifetime_days),
        ],
    )
