"""What the heartbeat asks, and how often. Intervals are machine time."""

from typing import Any


def schedule(*, beat: float) -> dict[str, dict[str, Any]]:
    return {
        job: {
            "task": job,
            "schedule": every,
            # A job nobody took in time is forgotten: the next beat asks again.
            "options": {"expires": max(10.0, 2 * every)},
        }
        for job, every in {
            "pages.heartbeat": beat,
            "notifications.tell_of_new_entries": beat,
            "notifications.send_due_deliveries": beat,
            "notifications.forget_old_events": 60 * beat,
            "tasks.advance_windows": beat,
            "tasks.extend_windows": 5 * beat,
            "collection.place_sessions": beat,
            "collection.publish_snapshot": beat,
            "collection.count_fleet": 5 * beat,
            "collection.merge_partials": beat,
            "collection.erase_partials": 5 * beat,
            "releases.release_due_windows": beat,
            "releases.render_releases": beat,
            "releases.restore_files": 30 * beat,
            "lab.run_next_study": beat,
            "audit.verify_new_entries": 15 * beat,
            "audit.verify_chain": 1800 * beat,
            "accounts.forget_old_login_failures": 1800 * beat,
            "accounts.forget_old_sessions": 1800 * beat,
        }.items()
    }
