"""Releasing a window: gather, add noise, and commit everything that follows from it at once.

The argument for one release per window. Noise is drawn in the memory of the process that holds
the window's only living collector, and nothing noised leaves that memory before the commit: not
to a log, a file, a cache, a return value or an exception. One transaction writes the release,
spends the ledger's reservation, settles partials and collector, and moves the window to
`released`, which is final. If it fails, or the process dies before it, everything is as it was:
the noise is forgotten, and a later attempt draws its own, of which again nobody has seen anything.
If it commits, the window is never due again; the database refuses a second release besides. A
commit that fails is tried again with the same numbers, once the row says that it did not happen. So
each window has at most one output that anybody can ever have seen, and exactly one debit with it.

One exception, for who reads the database's disk: PostgreSQL writes a row to its log and its tables
before it commits, and what is rolled back stays there for a while. The release is therefore written
after all that could refuse it. Should the rest fail all the same, an attempt's noised numbers are
on that disk, and the next attempt's noise is another.

Whether a window is released depends on the clock and on the approval, never on how many devices
contributed: a window without any is released like every other.
"""

import logging
import time
from datetime import datetime

import msgspec
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction

from aggregation.clock import Clock
from aggregation.errors import Problem
from aggregation.protocol.server_config import ServerConfig
from aggregation.release.card import GuaranteeCard, card_of
from aggregation.release.noise import add_noise
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from portal.audit.services import move, record
from portal.collection.gathering import Gathered, gather, settle
from portal.collection.models import Partial, Receipts, Session
from portal.ledger.services import spend
from portal.problems import Conflict
from portal.releases import attempts, telling
from portal.releases.failpoints import passed
from portal.releases.models import Release
from portal.releases.signing import card_text, release_key, sign_card
from portal.streams.selectors import installed_catalog
from portal.tasks.models import Revision, TaskWindow
from portal.tasks.selectors import is_paid_for
from portal.tasks.signing import approval_for, is_trusted

log = logging.getLogger(__name__)

# Machine seconds between attempts to store a release while the database is away.
PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)


def release_window(*, window: TaskWindow, clock: Clock, worker: str = "") -> None:
    """Release one due window. Gives nothing back: a release is read from its committed row.

    Raises Conflict if it is not due or somebody else is at it; any error leaves it due.
    """
    passed("due")
    revision = window.revision
    if not is_trusted(revision):
        hold_back(window=window, clock=clock)
        return
    # Before the window is closed: what cannot be computed, or signed, is not gathered.
    recipe = recipe_of(revision)
    release_key()
    with gather(window=window, clock=clock, worker=worker) as gathered:
        passed("gathered")
        if gathered.config != recipe.config:
            raise Problem(f"The server config of {window} changed while it was gathered.")
        noised = add_noise(gathered.core.report(), recipe)
        passed("noised")
        card = _card(window, revision, recipe, noised, clock)
        _store(gathered, noised, card, clock=clock)
    passed("committed")


def recipe_of(revision: Revision) -> Recipe:
    config = msgspec.json.decode(revision.server_config_json, type=ServerConfig)
    return Recipe.of(config, installed_catalog().domain)


@transaction.atomic
def hold_back(*, window: TaskWindow, clock: Clock) -> None:
    """A window whose approval does not verify is not released, and people hear of it, once.

    It stays as it is and stays charged. Should the right key come back while its partials last,
    the next beat releases it; otherwise they expire, unread.
    """
    locked = TaskWindow.objects.select_for_update(no_key=True).get(pk=window.pk)
    if not telling.is_held_back(locked):
        record(action="taskwindow.held_back", subject=locked, clock=clock)
        telling.held_back(locked, clock=clock)


def _card(
    window: TaskWindow, revision: Revision, recipe: Recipe, noised: Noised, clock: Clock
) -> GuaranteeCard:
    approver, approved_at = revision.approver, revision.approved_at
    assert approver is not None  # noqa: S101 - it is trusted
    assert approved_at is not None  # noqa: S101
    return card_of(
        task=window.task.name,
        window=window.as_window(),
        recipe=recipe,
        noised=noised,
        approval=approval_for(revision, approver=approver, approved_at=approved_at),
        approval_signature=bytes.fromhex(revision.signature),
        approval_key=revision.key_id,
        released_at=clock.now(),
        software=f"Mayfly {settings.VERSION}",
    )


def _store(gathered: Gathered, noised: Noised, card: GuaranteeCard, *, clock: Clock) -> None:
    """Commit, and wait for a database that is away.

    What sessions have handed over may be in this memory alone: an attempt after this one would be
    without it.
    """
    for pause in (*PAUSES, None):
        try:
            if not _is_stored(gathered):
                _commit(gathered, noised, card, clock=clock)
        except (OperationalError, InterfaceError):
            connection.close()
            if pause is None:
                raise
            log.warning("%s cannot be stored now; it is tried again.", gathered.window)
            time.sleep(pause)
        else:
            return


def _is_stored(gathered: Gathered) -> bool:
    """Whether a commit of this collector went through that nobody heard of.

    Its row says so, which changes with the release; what is in memory says what was tried.
    """
    gathered.collector.refresh_from_db(fields=["state"])
    return gathered.collector.state == Session.State.FLUSHED


def _commit(gathered: Gathered, noised: Noised, card: GuaranteeCard, *, clock: Clock) -> None:
    packed, text = noised.encode(), card_text(card)
    signature = sign_card(text)
    with transaction.atomic():
        window = _locked(gathered)
        release = Release(
            window=window,
            # As the card says, which is signed: there is one time of a release.
            released_at=datetime.fromisoformat(card.released_at),
            audience=card.audience,
            noised=packed,
            noised_sha256=noised.sha256,
            card=text,
            signature=signature,
        )
        _spend(window, clock=clock)
        passed("spent")
        settle(gathered, clock=clock)
        passed("settled")
        # After all that may refuse: a database writes a row to its log before it commits, and what
        # is rolled back stays there, with noise that the next attempt's would be averaged with.
        release.save(force_insert=True)
        passed("stored")
        move(window, to=TaskWindow.State.RELEASED, clock=clock)
        Receipts.objects.filter(window=window).delete()
        attempts.forget(window=window)
        record(action="release.made", subject=release, clock=clock)
        telling.released(release, clock=clock)
        passed("moved")


def _locked(gathered: Gathered) -> TaskWindow:
    """Locks in the order all others take them: session, window, partials; then ledger and log."""
    collector = Session.objects.select_for_update(no_key=True).get(pk=gathered.collector.pk)
    rows = TaskWindow.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "task", "revision__task"
    )
    window = rows.get(pk=gathered.window.pk)
    if (collector.state, window.state) != (Session.State.COMPLETING, TaskWindow.State.RELEASING):
        raise Conflict(f"{window} is not being released by this collector any more.")
    partials = Partial.objects.filter(pk__in=gathered.partials).order_by("pk")
    list(partials.select_for_update(no_key=True).values_list("pk", flat=True))
    return window


def _spend(window: TaskWindow, *, clock: Clock) -> None:
    """Just what the card says that it costs."""
    if not is_paid_for(window):
        raise Conflict(f"The charge for {window} is not what it costs, so it is not released.")
    spend(task=window.task.name, windows=[window.as_window()], clock=clock)
