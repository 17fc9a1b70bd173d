"""Collecting and releasing: what is late, failing, held back, or has no room."""

from datetime import datetime, timedelta

from django.conf import settings
from django.urls import reverse

from portal.audit.models import Entry
from portal.collection.models import Session
from portal.pages.overview.finding import Finding, Findings, Seen, Source
from portal.pages.readiness import can_check_approvals
from portal.releases.models import Attempt, Release
from portal.releases.selectors import due_windows, releases_to_render
from portal.releases.telling import HELD_BACK
from portal.tasks.models import TaskWindow
from portal.tasks.signing import is_trusted

# Machine time: a release takes seconds, and minutes where a session has to end first.
_LATE = timedelta(minutes=3)
_TRIED_OFTEN = 3
_RENDERED_WITHIN = timedelta(minutes=5)
# Of the longest that a queue may be.
_NEARLY_FULL = 0.8
_SHORT_LEFT = timedelta(days=1)


def late_releases(seen: Seen) -> Findings:
    """Due, and not released: because it fails, is held back, or nobody does it."""
    tried = {row.window_id: row.times for row in Attempt.objects.all()}
    checked = can_check_approvals()
    for window in due_windows(seen.clock.now())[:20]:
        since = seen.machine_time_of(window.due_at)
        times = tried.get(window.pk, 0)
        if checked and not is_trusted(window.revision):
            yield _held_back(window, _told_of(window) or since)
        elif times >= _TRIED_OFTEN:
            yield _failing(window, since, times)
        elif seen.now - since > _LATE:
            yield _late(window, since)


def _told_of(window: TaskWindow) -> datetime | None:
    """When people heard that it is held back: once, whatever has become of it since."""
    told = Entry.objects.filter(action=HELD_BACK, object_type="taskwindow")
    return told.filter(object_id=str(window.pk)).values_list("at", flat=True).first()


def _held_back(window: TaskWindow, since: object) -> Finding:
    return _about(
        window,
        kind="release-held-back",
        weight="bad",
        title=f"{window} is held back",
        meaning="The approval of its revision does not verify: the approval key is another one, "
        "the row was changed, or this version cannot read it. Its partials last for a few days "
        "only.",
        remedy="Restore the approval key that signed it. If the key is the right one, somebody "
        "has written to the database: keep a copy and read the audit log.",
        since=since,
    )


def _failing(window: TaskWindow, since: object, times: int) -> Finding:
    return _about(
        window,
        kind="release-failing",
        weight="bad",
        title=f"The release of {window} keeps failing",
        meaning=f"It has been tried {times} times, and is tried again after ever longer pauses. "
        "Sums of few devices wait for it in the memory of session workers, all others until "
        "they expire.",
        remedy="The log of the job workers has the reason of each attempt. Do not restart "
        "any session worker before it is released.",
        since=since,
        command=f"grep 'Window {window.window} of' mayfly.log",
    )


def _late(window: TaskWindow, since: object) -> Finding:
    return _about(
        window,
        kind="release-late",
        weight="warning",
        title=f"The release of {window} is late",
        meaning="Its grace is over, and it has not been released. Few are released at a time; "
        "after an outage they come one after the other.",
        remedy="See that job workers and beat are alive; if they are, wait for those before it.",
        since=since,
    )


def _about(window: TaskWindow, **said: object) -> Finding:
    link = f"{reverse('task', args=[window.task.name])}#windows"
    return Finding(subject=str(window.pk), link=link, link_words="Its windows", **said)  # type: ignore[arg-type]


def releases_without_files(seen: Seen) -> Findings:
    entries = Entry.objects.filter(action="release.made").order_by("-seq")
    made = dict(entries.values_list("object_id", "at")[:200])
    late = [
        (release, at)
        for release in releases_to_render()[:20]
        if (at := made.get(str(release.pk))) and seen.now - at > _RENDERED_WITHIN
    ]
    for release, at in late:
        yield Finding(
            kind="files-missing",
            subject=str(release.pk),
            weight="warning",
            title=f"The {release} has no files yet",
            meaning="The numbers are released for good, but nobody can browse or download them.",
            remedy="See that the disk of the releases folder has room; the log says what fails.",
            command=f"grep 'files of release {release.pk} ' mayfly.log",
            since=at,
        )


def no_slot(seen: Seen) -> Findings:
    found = seen.sessions
    if not found.waiting:
        return
    taken = f"All {found.slots} places for sessions are taken" if found.slots else "There are none"
    yield Finding(
        kind="no-slot",
        weight="bad",
        title=f"No slot is free for {', '.join(found.waiting[:3])}",
        meaning=f"{taken}. Devices of these tasks are told to come back; when their windows are "
        "due, they are released without them.",
        remedy="Start another session worker, or give the running ones more slots.",
        link=reverse("sessions"),
        link_words="Sessions and workers",
        command="python manage.py process sessions --instance further",
    )


def full_queues(seen: Seen) -> Findings:
    lines = [line for worker in seen.sessions.workers for line in worker.lines]
    full = [line for line in lines if line.queued.number >= _NEARLY_FULL * settings.QUEUE_LENGTH]
    for line in full:
        yield Finding(
            kind="queue-full",
            subject=line.row.pk,
            weight="warning",
            title=f"The queue of a session of {line.row.revision.task.name} is nearly full",
            meaning=f"{line.queued} updates wait in it. From {settings.QUEUE_LENGTH:,} "
            "on, devices are told to come back, so nothing is lost, but they take longer.",
            remedy="If this persists, the session is too slow for its devices: give workers more "
            "cores (MAYFLY_OPENERS), or lower the task's max_contributions to get more sessions.",
            link=reverse("sessions"),
            link_words="Sessions and workers",
        )


def lost_sessions(seen: Seen) -> Findings:
    """By a fault: those that were left behind when their worker was stopped are found below."""
    count = seen.sessions.lost_count - seen.sessions.left_count
    if count:
        yield Finding(
            kind="sessions-lost",
            weight="info",
            title=f"{count:,} session{'s' if count > 1 else ''} died within the last day",
            meaning="What they held was lost with their memory. Devices that find no receipt send "
            "again while the window is open; nothing is counted twice.",
            remedy="If there are more each day, look at the log of the session workers.",
            link=reverse("sessions"),
            link_words="Sessions and workers",
            since=_since(seen, was_left=False),
        )


def left_sessions(seen: Seen) -> Findings:
    count = seen.sessions.left_count
    if count:
        yield Finding(
            kind="sessions-left",
            weight="info",
            title=f"{count:,} session{'s' if count > 1 else ''} ended when "
            f"{'their' if count > 1 else 'its'} worker was stopped, within the last day",
            meaning="No other session worker was running to take over what they held. Devices "
            "that find no receipt send again while the window is open; nothing is counted twice.",
            remedy="Nothing, if everything was stopped. Otherwise start a second session worker "
            "before you stop the first.",
            link=reverse("sessions"),
            link_words="Sessions and workers",
            since=_since(seen, was_left=True),
        )


def _since(seen: Seen, *, was_left: bool) -> datetime | None:
    """Of the latest ones, when the first of such sessions ended."""
    return min(
        (
            row.ended_at
            for row in seen.sessions.lost
            if row.ended_at and (row.reason == Session.Reason.NO_SUCCESSOR) is was_left
        ),
        default=None,
    )


def expiring_partials(seen: Seen) -> Findings:
    """Keys of level 1 live three days: what is not merged by then cannot be read any more."""
    for level in seen.sessions.levels:
        if level.level == 1 and level.stored and level.left < _SHORT_LEFT:
            yield Finding(
                kind="partials-expiring",
                weight="bad",
                title=f"Partials of {level.window} expire in {level.left_words}",
                meaning="Their keys are erased then, merged or not, and what was not merged by "
                "then will be in no release.",
                remedy="See why the job collection.merge_partials does not merge them: its log "
                "says so.",
                link=reverse("sessions"),
                link_words="Sessions and partials",
            )


def newest_release() -> Release | None:
    return Release.objects.defer("noised").select_related("window__task").first()


SOURCES: list[Source] = [
    late_releases,
    no_slot,
    expiring_partials,
    full_queues,
    releases_without_files,
    lost_sessions,
    left_sessions,
]
