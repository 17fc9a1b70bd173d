"""What is worth telling people of now, and in which words.

The texts name the person: the webhook carries the same words to a place where «you» says nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.urls import reverse

from portal.accounts.models import ApiToken, Person, Role
from portal.accounts.selectors import people_with_role
from portal.audit.models import Entry

# Entries of one deed, oldest first: several roles granted at once are one thing to be told of.
Deed = list[Entry]


@dataclass(frozen=True)
class Notice:
    """Who is to be told, and what."""

    recipients: tuple[Person, ...]
    kind: str
    title: str
    body: str
    link: str


def notices_of(entries: Iterable[Entry]) -> list[Notice]:
    """What to tell of these entries of the log, which come in its order."""
    found = (OCCASIONS[deed[0].action](deed) for deed in _deeds(entries))
    return [notice for notice in found if notice is not None]


def broken_chain(problem: str) -> Notice:
    """All operators: somebody may be rewriting history."""
    return Notice(
        recipients=tuple(people_with_role(Role.OPERATOR)),
        kind="audit.broken",
        title="The audit log does not verify",
        body=f"{problem} Keep a copy of the database as it is, find out who had access to it, "
        "and compare the log with an earlier export.",
        link=reverse("audit"),
    )


def _password_changed(deed: Deed) -> Notice | None:
    return _to_subject(
        deed,
        title="The password of {} was changed",
        body="Changed by {}. API tokens made before that have ended. If this was not you, "
        "tell an operator at once.",
    )


def _password_reset(deed: Deed) -> Notice | None:
    return _to_subject(
        deed,
        title="The password of {} was reset",
        body="Reset by {}. API tokens made before that have ended. If you did not ask for this, "
        "find out why it was done.",
    )


def _roles_changed(deed: Deed) -> Notice | None:
    changes = [change for entry in deed for change in entry.changes]
    granted = [str(change["to"]) for change in changes if change["to"]]
    withdrawn = [str(change["from"]) for change in changes if change["from"]]
    sentences = [f"Granted: {_and(granted)}."] if granted else []
    sentences += [f"Withdrawn: {_and(withdrawn)}."] if withdrawn else []
    title, body = "The roles of {} were changed", " ".join([*sentences, "Changed by {}."])
    return _to_subject(deed, title=title, body=body, kind="roles.changed")


def _token_created(deed: Deed) -> Notice | None:
    token = ApiToken.objects.select_related("owner").filter(pk=deed[0].object_id).first()
    if token is None:
        return None
    return Notice(
        recipients=(token.owner,),
        kind=deed[0].action,
        title=f"An API token was made for {token.owner.username}: {token.name}",
        body=f"It has the scopes {_and(token.scopes)} and ends on {token.expires_at:%Y-%m-%d}. "
        f"Made by {_by(deed)}. If this was not you, revoke it and change your password.",
        link=reverse("tokens"),
    )


def _nothing_to_tell(deed: Deed) -> None:
    """Someone new learns their first roles with their account."""


OCCASIONS: dict[str, Callable[[Deed], Notice | None]] = {
    "password.changed": _password_changed,
    "password.reset": _password_reset,
    "token.created": _token_created,
    "person.added": _nothing_to_tell,
    "role.granted": _roles_changed,
    "role.withdrawn": _roles_changed,
}
_ABOUT_ROLES = frozenset({"person.added", "role.granted", "role.withdrawn"})


def _deeds(entries: Iterable[Entry]) -> list[Deed]:
    deeds: list[Deed] = []
    for entry in entries:
        if deeds and _belongs(entry, deeds[-1]):
            deeds[-1].append(entry)
        else:
            deeds.append([entry])
    return deeds


def _belongs(entry: Entry, deed: Deed) -> bool:
    """One transaction's entries follow each other without a gap, and name each role once."""
    before = deed[-1]
    return (
        {entry.action, before.action} <= _ABOUT_ROLES
        and entry.seq == before.seq + 1
        and (entry.object_id, entry.actor_id) == (before.object_id, before.actor_id)
        and not any(_roles_in(entry) & _roles_in(other) for other in deed)
    )


def _roles_in(entry: Entry) -> set[str]:
    return {str(change["from"] or change["to"]) for change in entry.changes}


def _to_subject(deed: Deed, *, title: str, body: str, kind: str = "") -> Notice | None:
    """To the person whom the entries are about, if they are still there."""
    person = Person.objects.filter(pk=deed[0].object_id).first()
    if person is None:
        return None
    return Notice(
        recipients=(person,),
        kind=kind or deed[0].action,
        title=title.format(person.username),
        body=body.format(_by(deed)),
        link=reverse("account"),
    )


def _by(deed: Deed) -> str:
    who = deed[0].actor if deed[0].actor_id else "a command on the server"
    return f"{who} on {deed[0].at:%Y-%m-%d at %H:%M} UTC"


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
