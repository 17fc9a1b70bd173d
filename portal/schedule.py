"""Which jobs the heartbeat runs, and how often. Intervals are machine time.

Jobs of one interval share one message and run one after the other: a message costs more than most
of them do. They are in an order in which each finds what the one before has made: a window that
begins has its session, and is on offer, within one beat. Those that may take long come last; while
one of them keeps a thread busy, another thread runs the jobs of the next beat.
"""

from typing import Any, Final

# By the number of beats between two times.
JOBS: Final[dict[int, tuple[str, ...]]] = {
    1: (
        "pages.heartbeat",
        "tasks.advance_windows",
        "collection.place_sessions",
        "collection.publish_snapshot",
        "notifications.tell_of_new_entries",
        "notifications.send_due_deliveries",
        "collection.merge_partials",
        "releases.release_due_windows",
        "releases.render_releases",
        "lab.run_next_study",
    ),
    5: ("tasks.extend_windows", "collection.count_fleet", "collection.erase_partials"),
    15: ("audit.verify_new_entries",),
    30: ("releases.restore_files",),
    60: ("notifications.forget_old_events",),
    1800: (
        "accounts.forget_old_login_failures",
        "accounts.forget_old_sessions",
        "audit.verify_chain",
    ),
}


def schedule(*, beat: float) -> dict[str, dict[str, Any]]:
    return {
        f"every {beats} beats": {
            "task": "pages.ask",
            "schedule": beats * beat,
            "args": [list(names)],
            # What nobody took in time is forgotten: the next beat asks again.
            "options": {"expires": max(10.0, 2 * beats * beat)},
        }
        for beats, names in JOBS.items()
    }
