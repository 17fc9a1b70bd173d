"""Who may do what with a task. Services ask here; pages and the API ask before them."""

from collections.abc import Iterable

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet

from portal.accounts.models import Person, Role
from portal.accounts.selectors import people_with_role
from portal.tasks.models import Editor, Revision

READERS = (Role.ANALYST, Role.REVIEWER, Role.OPERATOR)
# Whoever sees that something is wrong may stop it.
STOPPERS = (Role.ANALYST, Role.REVIEWER, Role.OPERATOR)


def require_role(person: Person, *roles: Role) -> None:
    """As the database has it now, not as it was when the person was read."""
    person.forget_roles()
    if not person.is_active or not person.has_role(*roles):
        names = " or ".join(str(role) for role in roles)
        raise PermissionDenied(f"This is for people with the role {names}.")


def readers_among(people: Iterable[int]) -> QuerySet[Person]:
    """Those of the people, named by their ids, who may see tasks now: somebody who once took part
    may have left, or lost the role, since."""
    return people_with_role(*READERS).filter(pk__in=set(people))


def why_not_approver(revision: Revision, person: Person) -> str:
    """Why this person cannot decide on the revision; empty if they can."""
    if not person.has_role(Role.REVIEWER):
        return "Only people with the role reviewer can decide on a revision."
    if revision.author_id == person.pk:
        return "You submitted this revision. Somebody else must decide on it."
    if Editor.objects.filter(task_id=revision.task_id, person=person).exists():
        return "You have written in this task's draft. Somebody who has not must decide on it."
    return ""


def require_second_person(revision: Revision, person: Person) -> None:
    require_role(person, Role.REVIEWER)
    if reason := why_not_approver(revision, person):
        raise PermissionDenied(reason)
