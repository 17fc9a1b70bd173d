"""What the documentation says about the audit log, notifications and jobs is what the code does."""

import re
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings

from portal.environment import KNOBS
from portal.notifications import occasions, sending
from portal.schedule import JOBS
from portal.states import Stateful
from portal.supervisor import system
from tests.portal.pages.reading_docs import tables, text

PORTAL = Path(settings.BASE_DIR) / "portal"


def test_every_action_is_described() -> None:
    rows = dict(tables("audit"))["What is recorded"]
    described = {action for row in rows for action in row[0].split(", ")}
    assert described == _recorded()


def _recorded() -> set[str]:
    """Names of actions in modules that write to the log, and names that moves have of themselves.

    A move without a name of its own is called after the state it leads to; revoking a token and
    queueing a delivery again have theirs.
    """
    writers = [
        p.read_text() for p in PORTAL.rglob("*.py") if "audit.services import" in p.read_text()
    ]
    named = {name for code in writers for name in re.findall(r'"([a-z_]+\.[a-z_]+)"', code)}
    moves = {
        f"{model._meta.model_name}.{state}"
        for model in apps.get_models()
        if issubclass(model, Stateful)
        for after in model.MOVES.values()
        for state in after
    }
    return named | (moves - {"apitoken.revoked", "delivery.queued"})


def test_every_occasion_is_described() -> None:
    rows = dict(tables("notifications"))["What people are told of"]
    told = {a for a in occasions.OCCASIONS if not a.startswith(("role.", "person."))}
    assert {row[0] for row in rows} == told | {"roles.changed", "audit.broken"}


def test_the_times_between_attempts_are_the_code_s() -> None:
    minutes = [int(wait.total_seconds() // 60) for wait in sending.BACK_OFF]
    assert minutes == [1, 5, 30]
    assert sending.MOST_ATTEMPTS == 4
    assert "after one, five and thirty minutes; after the fourth" in text("notifications")


def test_the_chain_is_verified_as_often_as_the_page_says() -> None:
    beat = float(KNOBS["MAYFLY_HEARTBEAT_SECONDS"].default)
    seconds = {name: beat * beats for beats, names in JOBS.items() for name in names}
    assert seconds["audit.verify_new_entries"] == 30
    assert seconds["audit.verify_chain"] == 3600
    assert "new entries every half a minute, and the whole chain once an hour" in text("audit")


def test_every_process_is_described(settings: Any) -> None:
    settings.SCENARIO = "demo"
    rows = dict(tables("running"))["The processes"]
    assert [row[0] for row in rows] == [child.name for child in system.children()]
