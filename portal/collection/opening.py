"""A worker takes a session: keys in memory, the public one signed, the row open."""

from datetime import UTC, datetime

import msgspec
from django.db import transaction
from django.db.models import QuerySet

from aggregation.clock import Clock
from aggregation.protocol.sealing import SessionKeys
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.session_key import sign_session_key
from portal.audit.services import move
from portal.collection.keys import worker_key
from portal.collection.models import Hold, Session
from portal.collection.selectors import open_windows
from portal.tasks.models import Revision, TaskWindow


def config_of(session: Session) -> ServerConfig:
    return config_of_revision(session.revision)


def config_of_revision(revision: Revision) -> ServerConfig:
    return msgspec.json.decode(revision.server_config_json, type=ServerConfig)


def session_row(session_id: str) -> Session | None:
    rows = Session.objects.select_related("revision__task", "revision__approver")
    return rows.filter(pk=session_id).first()


@transaction.atomic
def open_session(*, session: Session, keys: SessionKeys, worker: str, clock: Clock) -> bool:
    """Move it to open with its signed key and its holds; False if it was declared dead."""
    if session.collects_id is None:
        hold_open_windows(session, clock=clock)
    return move(
        session,
        to=Session.State.OPEN,
        clock=clock,
        worker=worker,
        public_key=keys.public.hex(),
        signature=_signature(session, keys).hex(),
        opened_at=datetime.now(UTC),
    )


@transaction.atomic
def hold_open_windows(session: Session, *, clock: Clock) -> None:
    """Take hold of the open windows of its revision: from now on their release waits for it.

    Everyone who locks several rows takes sessions first, then windows, then the audit log.
    """
    Session.objects.select_for_update(no_key=True).get(pk=session.pk)
    windows = windows_to_hold(session, clock=clock).select_for_update(no_key=True, of=("self",))
    Hold.objects.bulk_create(Hold(session=session, window=row) for row in windows)


def windows_to_hold(session: Session, *, clock: Clock) -> QuerySet[TaskWindow]:
    """Open windows of its revision that it has no hold on yet."""
    held = Hold.objects.filter(session=session).values("window_id")
    return open_windows(clock.now()).filter(revision=session.revision_id).exclude(pk__in=held)


def _signature(session: Session, keys: SessionKeys) -> bytes:
    return sign_session_key(
        worker_key(),
        session=session.pk,
        client_task=session.revision.client_task_sha256,
        public=keys.public,
    )
