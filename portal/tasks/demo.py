"""The demo's tasks, made as an analyst and a reviewer make them: through the same services.

Two run: trips by region, and the modal split of countries, with budget left to play with. One
waits for a reviewer and has a real weakness to spot: it follows the few people who cycle at night
in one town, and would publish to everyone cells that are mostly noise. One was sent back with
comments, and one is a draft. There is a population for each country that the demo's phones are in.
"""

from aggregation.clock import Clock
from portal.accounts.models import Person
from portal.tasks import services
from portal.tasks.models import Revision
from portal.tasks.populations import add_population
from portal.tasks.starting_points import starting_points

# What the demo changes in a starting point.
_SOON = ("grace_hours: 168", "grace_hours: 72")
_RUNNING = {
    "weekly-trips": [
        _SOON,
        ("max_relative_noise: 0.05", "max_relative_noise: 0.1"),
        ("audience: internal", "audience: public"),
    ],
    "country-modal-split": [_SOON],
}
_NIGHT = [
    ("name: cycling-by-hour", "name: night-cyclists"),
    ("description: Cycling trips by hour of the day and kind of day",
     "description: Who cycles through Lausanne at night?"),
    ("WHERE activity = 'cycling'",
     "WHERE activity = 'cycling' AND region = '2659994' AND hour_of_day IN (1, 2, 3)"),
    ("max_relative_noise: 0.1}", "max_relative_noise: 0.9}\npublish: {audience: public}"),
]  # fmt: skip


# Where the demo's phones are.
COUNTRIES = ("BR", "DE", "FI", "FR", "GB", "IN", "JP", "US")


def seed(
    *,
    analyst: Person,
    reviewer: Person,
    reviewer_password: str,
    operator: Person,
    clock: Clock,
) -> None:
    for country in COUNTRIES:
        add_population(name=country, actor=operator, clock=clock)
    for slug, changes in _RUNNING.items():
        run(slug, changes, analyst, reviewer, reviewer_password, clock)
    _submitted("night-cyclists", _text("cycling-by-hour", _NIGHT), analyst, clock)
    rush_hours = _submitted("daily-rush-hours", _text("daily-rush-hours"), analyst, clock)
    _send_back(rush_hours, reviewer, clock)
    services.create_task(
        name="assistant-quality", text=_text("assistant-quality"), actor=analyst, clock=clock
    )


def run(  # noqa: PLR0917 - two people, in the order of their work
    slug: str,
    changes: list[tuple[str, str]],
    analyst: Person,
    reviewer: Person,
    reviewer_password: str,
    clock: Clock,
) -> None:
    """A starting point with some changes, written by the one person and approved by the other."""
    running = _submitted(slug, _text(slug, changes), analyst, clock)
    services.approve(
        revision=running,
        seen=running.content_sha256,
        password=reviewer_password,
        comment="Closed keys, a bound per phone, and enough phones per cell at this ε.",
        actor=reviewer,
        clock=clock,
    )


def _text(slug: str, changes: list[tuple[str, str]] | None = None) -> str:
    text = next(point.text for point in starting_points() if point.slug == slug)
    for before, after in changes or []:
        text = text.replace(before, after)
    return text


def _submitted(name: str, text: str, analyst: Person, clock: Clock) -> Revision:
    task = services.create_task(name=name, text=text, actor=analyst, clock=clock)
    return services.submit(task=task, version=1, actor=analyst, clock=clock)


def _send_back(revision: Revision, reviewer: Person, clock: Clock) -> None:
    services.comment(
        task=revision.task,
        revision=revision,
        part="client_sql",
        line=4,
        text="Is 10 still rush hour? The city's own counts end the morning at 9.",
        actor=reviewer,
        clock=clock,
    )
    services.ask_for_changes(
        revision=revision,
        seen=revision.content_sha256,
        comment="Seven windows a week cost 0.7. Would weekly windows with day_of_week as a key do?",
        actor=reviewer,
        clock=clock,
    )
