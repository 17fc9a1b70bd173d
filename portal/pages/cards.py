"""What there is to look into: each function gives the cards that concern the viewer."""

from collections.abc import Callable

from django.conf import settings
from django.urls import reverse

from aggregation.errors import Problem
from aggregation.protocol.streams import Catalog, Stream
from portal.accounts.models import Role
from portal.accounts.selectors import people_with_role, working_tokens
from portal.audit.selectors import latest_verification
from portal.notifications.selectors import outbox
from portal.pages.home import Card, Cards, Figure, Viewer
from portal.pages.moments import relative
from portal.releases.browsing.newest import newest
from portal.releases.selectors import releases_for
from portal.streams.selectors import installed_catalog


def streams(viewer: Viewer) -> Cards:
    try:
        catalog = installed_catalog()
    except Problem:
        return
    for stream in catalog:
        yield _stream(stream, catalog)


def releases(viewer: Viewer) -> Cards:
    count, found = releases_for(viewer.person).count(), newest(viewer.person)
    text = "The answers: one per task and window, each with its guarantee card."
    if found is not None:
        text = f"The newest is {found.release.window.task.name}: {found.sentence}."
    yield Card(
        title="Releases",
        icon="chart",
        text=text,
        url=reverse("releases"),
        figures=(Figure(f"{count:,}", "release" if count == 1 else "releases"),),
    )


def health_of_parts(viewer: Viewer) -> Cards:
    parts = viewer.parts if viewer.is_a(Role.OPERATOR) else []
    if not parts:
        return
    well = sum(part.ok for part in parts)
    text = "Every part of the system gives a sign of life."
    if well < len(parts):
        text = "Not well: " + ", ".join(part.title.lower() for part in parts if not part.ok) + "."
    yield Card(
        title="Health",
        icon="health",
        text=text,
        url=reverse("health"),
        figures=(Figure(f"{well} of {len(parts)}", "parts are well"),),
        tone="good" if well == len(parts) else "bad",
    )


def audit_chain(viewer: Viewer) -> Cards:
    if not viewer.is_a(Role.REVIEWER, Role.OPERATOR):
        return
    found = latest_verification()
    if found is None or found.at is None:
        state = "It is verified for the first time shortly."
    else:
        state = found.problem or f"Verified {relative(found.at, now=viewer.now)}, and sound."
    yield Card(
        title="Audit log",
        icon="audit",
        text=f"Who did what, each entry chained to the one before. {state}",
        url=reverse("audit"),
        figures=(Figure(f"{found.seq if found else 0:,}", "entries verified"),),
        tone="bad" if found and found.problem else "good" if found and found.at else "",
    )


def people(viewer: Viewer) -> Cards:
    if not viewer.is_a(Role.OPERATOR):
        return
    counts = [(people_with_role(role).count(), role.label.lower()) for role in Role]
    yield Card(
        title="People",
        icon="people",
        text="Who may come in, and what they may do.",
        url=reverse("people"),
        figures=tuple(Figure(f"{n:,}", label if n == 1 else f"{label}s") for n, label in counts),
    )


def tokens(viewer: Viewer) -> Cards:
    active = working_tokens(viewer.person, now=viewer.now).count()
    yield Card(
        title="API tokens",
        icon="key",
        text="Let a program of yours do what you may do here. A token is shown once.",
        url=reverse("tokens"),
        figures=(Figure(f"{active:,}", "active token" if active == 1 else "active tokens"),),
    )


def demo_mail(viewer: Viewer) -> Cards:
    if not settings.DEMO or not viewer.is_a(Role.OPERATOR):
        return
    count = outbox().count()
    yield Card(
        title="Outbox",
        icon="mail",
        text="In the demo no e-mail leaves this machine. They are kept here to be read.",
        url=reverse("outbox"),
        figures=(Figure(f"{count:,}", "e-mail" if count == 1 else "e-mails"),),
    )


# In the order they are shown.
SOURCES: list[Callable[[Viewer], Cards]] = [
    releases,
    health_of_parts,
    audit_chain,
    people,
    streams,
    tokens,
    demo_mail,
]


def _stream(stream: Stream, catalog: Catalog) -> Card:
    recorded = [column for column in stream.columns if not column.stamped]
    sizes = {c.name: len(catalog.domain(c.domain)) for c in recorded if c.domain}
    largest = max(sizes, key=lambda name: sizes[name])
    return Card(
        title=stream.title,
        icon="streams",
        text=stream.description,
        url=reverse("stream", args=[stream.name]),
        figures=(
            Figure(f"{len(recorded)}", "columns"),
            Figure(f"{sizes[largest]:,}", f"values of {largest}"),
            Figure(f"{stream.ttl_days} days", "on the phone"),
        ),
    )


def cards_for(viewer: Viewer) -> list[Card]:
    return [card for source in SOURCES for card in source(viewer)]
