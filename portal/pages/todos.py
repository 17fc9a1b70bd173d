"""What needs doing now: each function gives what it knows of that concerns the viewer."""

from collections.abc import Callable
from datetime import timedelta

from django.urls import reverse

from aggregation.errors import Problem
from portal.accounts.models import Role
from portal.accounts.selectors import everyone, working_tokens
from portal.audit import witness
from portal.audit.selectors import latest_verification
from portal.notifications.models import Delivery
from portal.notifications.selectors import deliveries_in, unread_count
from portal.pages.home import Todo, Todos, Viewer
from portal.pages.moments import relative
from portal.streams.selectors import installed_catalog
from portal.tasks.selectors import revisions_awaiting, revisions_sent_back

_SOON = timedelta(days=7)


def no_role(viewer: Viewer) -> Todos:
    if not viewer.person.roles():
        yield Todo(
            tone="warning",
            icon="user",
            title="You have no role yet",
            detail="An operator gives roles; until then you can look at the streams and the docs.",
            url=reverse("docs_page", args=["people"]),
            action="What roles do",
        )


def broken_chain(viewer: Viewer) -> Todos:
    found = latest_verification() if viewer.is_a(Role.REVIEWER, Role.OPERATOR) else None
    if found and found.problem:
        yield Todo(
            "bad", "audit", "The audit log is broken", found.problem, reverse("audit"), "Look"
        )


def forgetful_database(viewer: Viewer) -> Todos:
    trouble = witness.trouble() if viewer.is_a(Role.OPERATOR) else ""
    if trouble:
        title = "Nothing is collected or released"
        yield Todo("bad", "database", title, trouble, reverse("overview"), "What to do")


def unwell_parts(viewer: Viewer) -> Todos:
    parts = viewer.parts if viewer.is_a(Role.OPERATOR) else []
    # The log has lines of its own. Parts that others stand on come first: mend those first.
    unwell = [part for part in parts if not part.ok and part.name != "audit"]
    if unwell:
        title = f"Not well: {_some([part.title for part in unwell])}"
        yield Todo("bad", "health", title, unwell[0].detail, reverse("overview"), "What to do")


def missing_streams(viewer: Viewer) -> Todos:
    try:
        installed_catalog()
    except Problem as problem:
        if viewer.is_a(Role.OPERATOR):
            link = reverse("docs_page", args=["streams"])
            yield Todo("bad", "streams", problem.message, problem.hint, link, "Read how")


def failed_deliveries(viewer: Viewer) -> Todos:
    count = deliveries_in(Delivery.State.FAILED).count() if viewer.is_a(Role.OPERATOR) else 0
    if count:
        yield Todo(
            tone="warning",
            icon="mail",
            title=_counted(count, "message could", "messages could") + " not be delivered",
            detail="Mend the mail server or the webhook, then send them again.",
            url=reverse("deliveries"),
            action="See deliveries",
        )


def people_without_role(viewer: Viewer) -> Todos:
    waiting = everyone().filter(is_active=True, grants=None) if viewer.is_a(Role.OPERATOR) else []
    names = [person.username for person in waiting]
    if names:
        yield Todo(
            tone="info",
            icon="people",
            title=_counted(len(names), "person has", "people have") + " no role",
            detail=f"{_some(names)} can sign in, but has nothing to do."
            if len(names) == 1
            else f"{_some(names)} can sign in, but have nothing to do.",
            url=reverse("people"),
            action="Give roles",
        )


def expiring_tokens(viewer: Viewer) -> Todos:
    working = working_tokens(viewer.person, now=viewer.now)
    for token in working.filter(expires_at__lte=viewer.now + _SOON).order_by("expires_at"):
        yield Todo(
            tone="warning",
            icon="key",
            title=f"The token {token.name} expires {relative(token.expires_at, now=viewer.now)}",
            detail="The program that uses it stops working then. Make a new one in time.",
            url=reverse("tokens"),
            action="Tokens",
        )


def waiting_reviews(viewer: Viewer) -> Todos:
    if not viewer.is_a(Role.REVIEWER):
        return
    waiting = list(revisions_awaiting(viewer.person)[:20])
    if waiting:
        names = [revision.task.name for revision in waiting]
        yield Todo(
            tone="info",
            icon="check-circle",
            title=_counted(len(names), "task awaits", "tasks await") + " your review",
            detail=f"{_some(names)}: nothing runs before a second person has read it.",
            url=reverse("review"),
            action="Review",
        )


def tasks_sent_back(viewer: Viewer) -> Todos:
    for revision in revisions_sent_back(viewer.person):
        yield Todo(
            tone="warning",
            icon="edit",
            title=f"Changes are asked for in {revision.task.name}",
            detail="Read what the reviewer says, change the draft, and submit it again.",
            url=reverse("task", args=[revision.task.name]) + "#comments",
            action="See why",
        )


def unread_notifications(viewer: Viewer) -> Todos:
    count = unread_count(viewer.person)
    if count:
        yield Todo(
            tone="info",
            icon="bell",
            title=_counted(count, "unread notification", "unread notifications"),
            detail="What happened that concerns you.",
            url=reverse("notifications"),
            action="Read",
        )


# In the order they are shown.
SOURCES: list[Callable[[Viewer], Todos]] = [
    no_role,
    forgetful_database,
    broken_chain,
    unwell_parts,
    missing_streams,
    failed_deliveries,
    waiting_reviews,
    tasks_sent_back,
    people_without_role,
    expiring_tokens,
    unread_notifications,
]


def _counted(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many}"


def _some(names: list[str]) -> str:
    shown = names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def todos_for(viewer: Viewer) -> list[Todo]:
    return [todo for source in SOURCES for todo in source(viewer)]
