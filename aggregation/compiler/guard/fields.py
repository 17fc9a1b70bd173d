"""Rules on the fields around the queries: every bound of `bounds`, each with its sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from aggregation.compiler import bounds
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard import unseen
from aggregation.compiler.guard.names import nearest
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.spec import Spec, decimal_text
from aggregation.protocol.streams import Catalog

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?")
_POPULATION: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,62}[A-Za-z0-9])?")


@dataclass(frozen=True)
class Subject:
    spec: Spec
    catalog: Catalog
    # Those that operators have made; None where nobody can say.
    populations: frozenset[str] | None = None


FieldRule = Callable[[Subject], Iterator[Finding]]


def _at(path: str, message: str, hint: str) -> Finding:
    return Finding(message, hint, part=path)


def name(subject: Subject) -> Iterator[Finding]:
    given = subject.spec.name
    if not _NAME.fullmatch(given):
        hint = "Use up to 64 of a–z, 0–9 and hyphens, such as weekly-trips."
        yield _at("name", f"{given[:80]!r} is no name for a task.", hint)


def description(subject: Subject) -> Iterator[Finding]:
    length = len(subject.spec.description)
    if length > bounds.MAX_DESCRIPTION:
        message = f"The description has {length:,} characters; {bounds.MAX_DESCRIPTION:,} are read."
        yield _at("description", message, "Shorten it.")


def unseen_character(subject: Subject) -> Iterator[Finding]:
    """No text is drawn as another: whoever approves the spec reads what it says."""
    yield from unseen.in_fields(subject.spec.document())


def streams(subject: Subject) -> Iterator[Finding]:
    """Each stream is installed, named once, and charged."""
    given = subject.spec.streams
    installed = ", ".join(sorted(s.name for s in subject.catalog))
    if not given:
        yield _at("streams", "The spec declares no stream.", f"Installed are {installed}.")
    if len(given) > bounds.MAX_STREAMS:
        message = f"The spec declares {len(given)} streams; at most {bounds.MAX_STREAMS}."
        yield _at("streams", message, "Make several tasks.")
    for place, stream in enumerate(given):
        if stream not in subject.catalog:
            message = f"There is no stream {stream[:60]!r}."
            yield _at(f"streams.{place}", message, f"Installed are {installed}.")
        elif stream in given[:place]:
            yield _at(f"streams.{place}", f"{stream} is declared twice.", "Declare it once.")


def population(subject: Subject) -> Iterator[Finding]:
    """Each population exists: no device would ever take part in a task of one nobody has made."""
    given, known = subject.spec.populations, subject.populations
    if not given or len(given) > bounds.MAX_POPULATIONS or len(set(given)) < len(given):
        message = f"A task runs on 1 to {bounds.MAX_POPULATIONS} populations, each named once."
        yield _at("population", message, "Write `population: all`.")
    for place, one in enumerate(given):
        path = "population" if one == subject.spec.population else f"population.{place}"
        if not _POPULATION.fullmatch(one):
            yield _at(path, f"{one[:60]!r} is no population.", "Write `population: all`.")
        elif known is not None and one not in known:
            hint = f"{nearest(one, sorted(known))} Operators can add others."
            yield _at(path, f"There is no population {one}.", hint)


def queries(subject: Subject) -> Iterator[Finding]:
    """Either both queries, or one nested statement."""
    spec = subject.spec
    hint = "Write client_sql and server_sql, or one nested statement in sql."
    if spec.sql is not None:
        for path in ("client_sql", "server_sql"):
            if getattr(spec, path) is not None:
                yield _at(path, f"The spec has sql and also {path}.", hint)
        return
    for path in ("client_sql", "server_sql"):
        if getattr(spec, path) is None:
            yield _at(path, f"The spec has no {path}.", hint)


def grace(subject: Subject) -> Iterator[Finding]:
    window = subject.spec.window
    least = bounds.MIN_GRACE_HOURS[window.unit]
    if not least <= window.grace_hours <= bounds.MAX_GRACE_HOURS:
        message = f"grace_hours is {window.grace_hours}; for a {window.unit} it is {least} to "
        message += f"{bounds.MAX_GRACE_HOURS}."
        yield _at("window.grace_hours", message, "Late devices need some time, partials expire.")


def epsilon(subject: Subject) -> Iterator[Finding]:
    """A positive decimal with a step, below a hard maximum."""
    given = subject.spec.anonymization.epsilon
    path, shown = "anonymization.epsilon", decimal_text(given)[:40]
    if not given.is_finite() or given <= 0:
        message = f"epsilon is {shown}, but must be above 0."
        yield _at(path, message, f"Choose {bounds.EPSILON_STEP} to {bounds.MAX_EPSILON}.")
    elif given > bounds.MAX_EPSILON:
        message = f"epsilon is {shown}; more than {bounds.MAX_EPSILON} protects no one."
        yield _at(path, message, f"Choose {bounds.EPSILON_STEP} to {bounds.MAX_EPSILON}.")
    elif given % bounds.EPSILON_STEP:
        message = f"epsilon is {shown}, but is counted in steps of {bounds.EPSILON_STEP}."
        yield _at(path, message, "Round it to two decimals.")


def separation(subject: Subject) -> Iterator[Finding]:
    given = subject.spec.eligibility.min_separation_windows
    if not 1 <= given <= bounds.MAX_SEPARATION_WINDOWS:
        message = f"min_separation_windows is {given}; use 1 to {bounds.MAX_SEPARATION_WINDOWS}."
        hint = "1 lets a device contribute to every window, once."
        yield _at("eligibility.min_separation_windows", message, hint)


def schedule(subject: Subject) -> Iterator[Finding]:
    given = subject.spec.schedule
    if not 1 <= given.max_runs_per_day <= bounds.MAX_RUNS_PER_DAY:
        message = f"max_runs_per_day is {given.max_runs_per_day}; use 1 to "
        message += f"{bounds.MAX_RUNS_PER_DAY}."
        yield _at("schedule.max_runs_per_day", message, "A phone has other things to do.")
    for place, condition in enumerate(given.conditions):
        if condition not in bounds.CONDITIONS or condition in given.conditions[:place]:
            message = f"{condition[:40]!r} is no condition, or is given twice."
            hint = f"Choose among {', '.join(bounds.CONDITIONS)}."
            yield _at(f"schedule.conditions.{place}", message, hint)


def session_size(subject: Subject) -> Iterator[Finding]:
    given = subject.spec.aggregation
    least, most = given.min_contributions, given.max_contributions
    if not bounds.MIN_CONTRIBUTIONS <= least <= bounds.MAX_CONTRIBUTIONS:
        message = f"min_contributions is {least:,}; use {bounds.MIN_CONTRIBUTIONS:,} to "
        message += f"{bounds.MAX_CONTRIBUTIONS:,}."
        yield _at("aggregation.min_contributions", message, "Smaller sums stay in memory.")
    if not least <= most <= bounds.MAX_CONTRIBUTIONS:
        message = f"max_contributions is {most:,}; use min_contributions ({least:,}) to "
        message += f"{bounds.MAX_CONTRIBUTIONS:,}."
        yield _at("aggregation.max_contributions", message, "Use several sessions.")
    if not 1 <= given.max_session_minutes <= bounds.MAX_SESSION_MINUTES:
        message = f"max_session_minutes is {given.max_session_minutes}; use 1 to "
        message += f"{bounds.MAX_SESSION_MINUTES}."
        yield _at("aggregation.max_session_minutes", message, "60 is usual.")


def head_room(subject: Subject) -> Iterator[Finding]:
    """A session's int64 sums cannot wrap, whatever its devices send."""
    most = subject.spec.aggregation.max_contributions
    if most * GRID > bounds.MAX_SUMMED:
        message = f"{most:,} devices could overflow a sum; {bounds.MAX_DEVICES:,} cannot."
        yield _at("aggregation.max_contributions", message, "Use several sessions.")


def max_rows(subject: Subject) -> Iterator[Finding]:
    given = subject.spec.aggregation.max_rows
    if not 1 <= given <= bounds.MAX_ROWS:
        message = f"max_rows is {given:,}; use 1 to {bounds.MAX_ROWS:,}."
        yield _at("aggregation.max_rows", message, "Every update is padded to it: keep it small.")


def relative_noise(subject: Subject) -> Iterator[Finding]:
    given = subject.spec.anonymization.suppression.max_relative_noise
    if not 0 < given <= bounds.MAX_RELATIVE_NOISE:
        message = f"max_relative_noise is {given}; it must be above 0 and at most 1."
        yield _at("anonymization.suppression.max_relative_noise", message, "0.05 is usual.")


def audience(subject: Subject) -> Iterator[Finding]:
    given = subject.spec.publish.audience
    if given not in bounds.AUDIENCES:
        message = f"{given[:40]!r} is no audience."
        yield _at("publish.audience", message, f"Choose {' or '.join(bounds.AUDIENCES)}.")


def post_processing(subject: Subject) -> Iterator[Finding]:
    given = subject.spec.post_processing
    if given is not None and given not in bounds.POST_PROCESSING:
        message = f"There is no post-processing {given[:40]!r}."
        yield _at("post_processing", message, f"There is {', '.join(bounds.POST_PROCESSING)}.")


RULES: Final[tuple[FieldRule, ...]] = (
    name,
    description,
    unseen_character,
    streams,
    population,
    queries,
    grace,
    epsilon,
    separation,
    schedule,
    session_size,
    head_room,
    max_rows,
    relative_noise,
    audience,
    post_processing,
)
