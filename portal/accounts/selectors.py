"""Reading people and tokens."""

from datetime import datetime

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from portal.accounts.models import ApiToken, Person, Role


def people_with_role(*roles: Role) -> QuerySet[Person]:
    """Those who hold one of the roles and may come in."""
    found = Person.objects.filter(is_active=True, grants__role__in=roles)
    return found.distinct().order_by("username")


def everyone() -> QuerySet[Person]:
    """All people with their roles, those who may come in first."""
    return Person.objects.prefetch_related("grants").order_by("-is_active", "username")


def tokens_of(person: Person, *, now: datetime) -> QuerySet[ApiToken]:
    """A person's tokens, newest first, each with `expired`: whether its time is over by now."""
    over = ExpressionWrapper(Q(expires_at__lte=now), output_field=BooleanField())
    return person.tokens.select_related("owner").annotate(expired=over)


def working_tokens(person: Person, *, now: datetime) -> QuerySet[ApiToken]:
    """Those that are neither revoked nor expired."""
    return person.tokens.filter(state=ApiToken.State.ACTIVE, expires_at__gt=now)
