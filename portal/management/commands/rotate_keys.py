"""Rotate signing keys from the command line: announce the next one, later sign with it."""

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.core.management.base import BaseCommand, CommandParser

from aggregation.errors import Problem
from aggregation.protocol.approval import key_id
from portal import kept_secrets
from portal.accounts.models import Person, Role
from portal.audit.services import Change, record
from portal.clock import civil_clock
from portal.collection.keys import WORKER
from portal.releases.signing import RELEASE
from portal.tasks.signing import APPROVAL

_NAMES = {"approval": APPROVAL, "worker": WORKER, "release": RELEASE}


class Command(BaseCommand):
    help = (
        "Announce the next key of a kind, or sign with the announced one from now on. What the old "
        "one has signed still holds, unless it leaked. The keys of partials are new every day."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", nargs="+", choices=list(_NAMES))
        parser.add_argument("--by", required=True, help="the username of the operator who does it")
        step = parser.add_mutually_exclusive_group()
        step.add_argument("--announce", action="store_true", help="publish the next key first")
        step.add_argument("--leaked", action="store_true", help="trust no earlier key any more")

    def handle(
        self, *args: Any, kind: list[str], by: str, announce: bool, leaked: bool, **_: Any
    ) -> None:
        operator = _operator(by)
        for each in kind:
            self._step(each, operator, announce=announce, leaked=leaked)

    def _step(self, kind: str, operator: Person, *, announce: bool, leaked: bool) -> None:
        name = _NAMES[kind]
        before = key_id(kept_secrets.trusted_keys(name)[0])
        key = kept_secrets.announce(name) if announce else _rotated(name, leaked=leaked)
        action = "key.announced" if announce else "key.rotated"
        changes = [Change(f"{kind} key", before, key_id(key))]
        if leaked:
            changes.append(Change("earlier keys", "trusted", "not trusted"))
        record(
            action=action, subject=operator, actor=operator, clock=civil_clock(), changes=changes
        )
        said = "is announced" if announce else "signs from now on"
        self.stdout.write(f"The {kind} key {key_id(key)} {said}.")
        self.stdout.write(key.public_bytes_raw().hex())


def _operator(username: str) -> Person:
    person = Person.objects.filter(username=username, is_active=True).first()
    if person is None or not person.has_role(Role.OPERATOR):
        raise Problem(f"{username!r} is no operator.", hint="Operators rotate keys; name one.")
    return person


def _rotated(name: str, *, leaked: bool) -> Ed25519PublicKey:
    """A key that leaked is replaced at once: devices refuse until they are updated."""
    if leaked:
        kept_secrets.forget_announced(name)
        kept_secrets.announce(name)
    return kept_secrets.rotate(name, trust_earlier=not leaked)
