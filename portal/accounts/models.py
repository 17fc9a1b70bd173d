"""People, what they may do, and the tokens their programs use."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from aggregation.errors import Problem
from portal.accounts.names import only_what_is_seen
from portal.states import Stateful, States


class Role(models.TextChoices):
    """What a person may do. One person may hold several roles; nobody approves their own task."""

    ANALYST = "analyst", "Analyst"
    REVIEWER = "reviewer", "Reviewer"
    CONSUMER = "consumer", "Consumer"
    OPERATOR = "operator", "Operator"

    @property
    def does(self) -> str:
        return _DOES[self]


_DOES = {
    Role.ANALYST: "writes tasks",
    Role.REVIEWER: "approves other people's tasks",
    Role.CONSUMER: "browses releases",
    Role.OPERATOR: "keeps the system running",
}


class People(BaseUserManager["Person"]):
    def create_user(
        self, username: str, email: str = "", password: str | None = None, **fields: Any
    ) -> "Person":
        person = self.model(
            username=self.model.normalize_username(username),
            email=self.normalize_email(email),
            **fields,
        )
        person.set_password(password)
        person.save()
        return person

    def create_superuser(self, *args: Any, **kwargs: Any) -> "Person":
        raise Problem(
            "There is no superuser in Mayfly.",
            hint="Add an operator: manage.py add_person NAME --role operator.",
        )

    def get_by_natural_key(self, username: str | None) -> "Person":
        return self.get(username=self.model.normalize_username(username or ""))


class Person(AbstractBaseUser):
    """Someone who signs in.

    There is no superuser and there are no staff, groups or permissions in Django's sense: what a
    person may do is the roles they hold, and nothing goes around them.
    """

    username = models.CharField(
        max_length=60,
        unique=True,
        validators=[
            RegexValidator(
                r"^[a-z0-9][a-z0-9._-]*\Z",
                "A username has lower-case letters, digits, dots, hyphens and underscores, "
                "and starts with a letter or a digit.",
            )
        ],
        error_messages={"unique": "Somebody has this username already. Choose another one."},
    )
    full_name = models.CharField(max_length=150, blank=True, validators=[only_what_is_seen])
    email = models.EmailField("e-mail", blank=True)
    is_active = models.BooleanField(default=True)
    # Set when someone else chose the password: the person must choose their own first.
    must_change_password = models.BooleanField(default=False)
    wants_email = models.BooleanField(default=True)
    added_at = models.DateTimeField(default=timezone.now)

    objects = People()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"

    class Meta:
        ordering = ["username"]
        verbose_name_plural = "people"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(username=Lower("username")), name="a_username_is_in_lower_case"
            )
        ]

    def __str__(self) -> str:
        return self.full_name or self.username

    @property
    def known_as(self) -> str:
        """The full name with the username, where one name must not pass for another: people
        choose their full names themselves, and only usernames are unique."""
        return f"{self.full_name} ({self.username})" if self.full_name else self.username

    @classmethod
    def normalize_username(cls, username: str) -> str:
        return super().normalize_username(username).strip().lower()

    def roles(self) -> frozenset[Role]:
        """The roles held, read once per object."""
        if not hasattr(self, "_roles"):
            self._roles = frozenset(Role(g.role) for g in self.grants.all())
        return self._roles

    def has_role(self, *wanted: str) -> bool:
        return bool(self.roles().intersection(wanted))

    def forget_roles(self) -> None:
        """Read the roles again the next time: they have changed."""
        self.__dict__.pop("_roles", None)
        self.__dict__.get("_prefetched_objects_cache", {}).pop("grants", None)


class Grant(models.Model):
    """A role that a person holds."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="grants")
    role = models.CharField(max_length=20, choices=Role)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "role"], name="a_role_is_held_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="a_role_is_one_of_the_four"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person} as {self.role}"


class Scope(models.TextChoices):
    """What a token may do, at most what its owner may. There is no scope to approve."""

    READ = "read", "Read"
    AUTHOR = "author", "Author"
    OPERATE = "operate", "Operate"

    @property
    def allows(self) -> str:
        return _ALLOWS[self]


_ALLOWS = {
    Scope.READ: "reads what you can read",
    Scope.AUTHOR: "writes and changes what you can write",
    Scope.OPERATE: "does what operators do, if you are one",
}


class ApiToken(Stateful):
    """A secret for a person's program. Shown once, stored as a hash."""

    class State(States):
        ACTIVE = "active", "good", "Active"
        REVOKED = "revoked", "neutral", "Revoked"

    MOVES: ClassVar = {
        State.ACTIVE: frozenset({State.REVOKED}),
        State.REVOKED: frozenset(),
    }

    owner = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=60)
    scopes = models.JSONField(default=list)
    # The first characters of the secret, so that its owner can tell one from another.
    prefix = models.CharField(max_length=12)
    sha256 = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    # Machine time: a token's life does not follow a simulated clock.
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")),
                name="a_token_ends_after_it_begins",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["active", "revoked"]),
                name="a_token_is_active_or_revoked",
            ),
            models.UniqueConstraint(
                fields=["owner", "name"],
                condition=models.Q(state="active"),
                name="active_tokens_of_a_person_have_different_names",
            ),
        ]

    def __str__(self) -> str:
        return f"token {self.name} of {self.owner.username}"


class LoginFailure(models.Model):
    """A sign-in that failed or is being checked, kept for as long as the throttle needs it."""

    # Keyed hashes: the table tells nothing to who reads it.
    name_hash = models.CharField(max_length=64)
    address_hash = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [
            models.Index(fields=["name_hash", "at"], name="failures_by_name"),
            models.Index(fields=["address_hash", "at"], name="failures_by_address"),
        ]

    def __str__(self) -> str:
        return "a name nobody has"
