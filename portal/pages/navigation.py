"""Where one can go: the entries of the navigation, for the roles one has."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from django.conf import settings
from django.urls import reverse

from portal.accounts.models import Role

_EVERYONE = frozenset(Role)
_WITH_TASKS = frozenset({Role.ANALYST, Role.REVIEWER, Role.OPERATOR})
# For guests, too, where releases are public.
_OF_RELEASES = frozenset({"releases", "places", "emissions"})
_OVERSIGHT = frozenset({Role.REVIEWER, Role.OPERATOR})


@dataclass(frozen=True)
class Entry:
    section: str
    label: str
    icon: str
    # The name of the address it leads to.
    name: str
    roles: frozenset[Role] = _EVERYONE
    # Can be read without signing in.
    public: bool = False

    @property
    def url(self) -> str:
        return reverse(self.name)


@dataclass(frozen=True)
class Group:
    label: str
    entries: tuple[Entry, ...]


GROUPS = (
    Group(
        "",
        (
            Entry("home", "Home", "home", "home", public=True),
            Entry("tasks", "Tasks", "layers", "tasks", _WITH_TASKS),
            Entry("review", "Review", "check-circle", "review", _WITH_TASKS),
            Entry("releases", "Releases", "chart", "releases"),
            Entry("places", "Places", "pin", "places"),
            Entry("emissions", "Emissions", "leaf", "emissions"),
            Entry("streams", "Streams", "streams", "streams"),
            Entry("ledger", "Ledger", "table", "ledger", _WITH_TASKS),
            Entry("lab", "Lab", "flask", "lab", _WITH_TASKS),
        ),
    ),
    Group(
        "Oversight",
        (
            Entry("overview", "Overview", "monitor", "overview", frozenset({Role.OPERATOR})),
            Entry("fleet", "Fleet", "phone", "fleet", frozenset({Role.OPERATOR})),
            Entry("sessions", "Sessions", "server", "sessions", frozenset({Role.OPERATOR})),
            Entry("audit", "Audit log", "audit", "audit", _OVERSIGHT),
            Entry("people", "People", "people", "people", frozenset({Role.OPERATOR})),
            Entry("health", "Health", "health", "health", public=True),
        ),
    ),
    Group(
        "Reference",
        (
            Entry("docs", "Docs", "docs", "docs", public=True),
            Entry("api", "API", "api", "api"),
        ),
    ),
)


def groups_for(roles: Iterable[Role]) -> list[Group]:
    """The navigation of someone signed in with these roles; somebody without a role sees less."""
    held = frozenset(roles)
    return _groups(lambda e: e.roles == _EVERYONE or bool(e.roles & held))


def groups_for_guests() -> list[Group]:
    """What is public anyhow, and the releases where some of them are."""
    releases = settings.PUBLIC_RELEASES
    return _groups(lambda entry: entry.public or (releases and entry.section in _OF_RELEASES))


def nearest(groups: Iterable[Group], path: str) -> list[Entry]:
    """The entries whose address looks most like a path that leads nowhere; often none does."""
    entries = [entry for group in groups for entry in group.entries]
    near = [(SequenceMatcher(None, entry.url, path).ratio(), entry) for entry in entries]
    near.sort(key=lambda pair: -pair[0])
    return [entry for ratio, entry in near if ratio > 0.6][:2]


def _groups(allowed: Callable[[Entry], bool]) -> list[Group]:
    chosen = [Group(group.label, tuple(e for e in group.entries if allowed(e))) for group in GROUPS]
    return [group for group in chosen if group.entries]
