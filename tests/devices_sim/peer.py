"""An honest server for phones to talk to: all six calls of the protocol, in memory.

It is a peer, not our server: it keeps what it was sent, so that tests can see what left a phone.
`peer_api` has the ways to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aggregation.clock import Clock
from aggregation.protocol import messages
from aggregation.protocol.approval import Approval, approval_of, key_id, sign
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.part import Part
from aggregation.protocol.sealing import SessionKeys
from aggregation.protocol.session_key import sign_session_key
from aggregation.protocol.tokens import is_token, token
from aggregation.protocol.update import Shape, unpack
from aggregation.protocol.windows import Window
from devices_sim.device.verification import Pins


@dataclass
class Revision:
    """An approved task, as the peer runs it."""

    task: str
    client_task: ClientTask
    approval: Approval
    signature: bytes
    grace: timedelta
    # What the server says of it at check-in, where a test makes that differ.
    offer: dict[str, Any] = field(default_factory=dict)
    assigned: dict[str, Any] = field(default_factory=dict)
    body: bytes = b""

    def __post_init__(self) -> None:
        self.sha256 = self.client_task.sha256
        self.body = self.body or self.client_task.canonical()

    def windows(self, now: datetime) -> tuple[str, ...]:
        """Ended, begun after the approval, grace not over."""
        window = Window.containing(now, self.client_task.window_unit).previous()
        found: list[str] = []
        while window.end + self.grace > now and window.start >= self.approval.moment:
            found.append(window.id)
            window = window.previous()
        return tuple(reversed(found))


@dataclass
class Session:
    id: str
    revision: Revision
    keys: SessionKeys
    queue: list[tuple[str, bytes]] = field(default_factory=list)
    over: bool = False
    receipts: dict[str, set[str]] = field(default_factory=dict)


class Peer:
    def __init__(self, clock: Clock, *, seed: int = 1) -> None:
        self.clock = clock
        self.rng = Random(seed)
        self.approval_key = Ed25519PrivateKey.from_private_bytes(self.rng.randbytes(32))
        self.worker_key = Ed25519PrivateKey.from_private_bytes(self.rng.randbytes(32))
        self.token_key = self.rng.randbytes(32)
        self.revisions: list[Revision] = []
        self.sessions: dict[str, Session] = {}
        # Window → the parts that were counted, per task.
        self.counted: dict[tuple[str, str], list[Part]] = {}
        self.calls: list[str] = []
        self.hint = (0, 0)
        self.active = 0
        # Update ids handed out, and those that arrived, in order.
        self.arrived: list[tuple[str, str, bytes]] = []
        # Updates whose phones were told that their session is over.
        self.told_over: set[str] = set()
        self.turns_away = False

    @property
    def pins(self) -> Pins:
        return Pins(
            self.approval_key.public_key().public_bytes_raw(),
            self.worker_key.public_key().public_bytes_raw(),
        )

    def add(
        self, task: str, client_task: ClientTask, *, approved_at: datetime, grace_hours: int = 168
    ) -> Revision:
        approval = approval_of(
            spec="0" * 64,
            client_task=client_task.sha256,
            server_config="1" * 64,
            author="a" * 32,
            approver="b" * 32,
            approved_at=approved_at,
        )
        signature = sign(approval, self.approval_key)
        revision = Revision(task, client_task, approval, signature, timedelta(hours=grace_hours))
        self.revisions.append(revision)
        return revision

    # The six calls

    def check_in(self) -> messages.Offers:
        now = self.clock.now()
        offers = []
        for revision in self.revisions:
            task = revision.client_task
            said = {
                "task": revision.task,
                "client_task": revision.sha256,
                "window_unit": task.window_unit,
                "windows": revision.windows(now),
                "eligibility": task.eligibility,
                "schedule": task.schedule,
            } | revision.offer
            if said["windows"]:
                offers.append(messages.Offer(**said))
        hint = messages.NextCheckIn(min_seconds=self.hint[0], max_seconds=self.hint[1])
        return messages.Offers(tasks=tuple(offers), next_check_in=hint)

    def assign(self, request: messages.AssignmentRequest) -> messages.Assignments:
        asked: Counter[messages.Wanted] = Counter()
        given = []
        for wanted in request.tasks:
            given.append(self._assigned(wanted, asked[wanted]))
            asked[wanted] += 1
        return messages.Assignments(assignments=tuple(given))

    def _assigned(
        self, wanted: messages.Wanted, nth: int
    ) -> messages.Assigned | messages.TurnedAway:
        same = [r for r in self.revisions if r.sha256 == wanted.client_task]
        revision = same[nth % len(same)] if same else None
        if revision is None or self.turns_away:
            return messages.TurnedAway(
                task=wanted.task, client_task=wanted.client_task, reason="Full.", retry_seconds=60
            )
        session = self.session_for(revision)
        update = self.rng.randbytes(8).hex()
        said = {
            "task": wanted.task,
            "client_task": revision.sha256,
            "address": f"/device/v1/client-tasks/{revision.sha256}",
            "approval": revision.approval,
            "signature": revision.signature.hex(),
            "key_id": key_id(self.approval_key.public_key()),
            "session": session.id,
            "public_key": session.keys.public.hex(),
            "session_signature": sign_session_key(
                self.worker_key,
                session=session.id,
                client_task=revision.sha256,
                public=session.keys.public,
            ).hex(),
            "update": update,
            "token": token(self.token_key, session=session.id, update=update),
            "windows": revision.windows(self.clock.now()),
        } | revision.assigned
        return messages.Assigned(**said)

    def session_for(self, revision: Revision) -> Session:
        for session in self.sessions.values():
            if session.revision is revision and not session.over:
                return session
        session = Session(self.rng.randbytes(16).hex(), revision, SessionKeys.fresh())
        self.sessions[session.id] = session
        return session

    def client_task(self, sha256: str) -> bytes | None:
        return next((r.body for r in self.revisions if r.sha256 == sha256), None)

    def upload(self, session_id: str, update: str, given: str, sealed: bytes) -> int:
        if not is_token(self.token_key, given, session=session_id, update=update):
            return 422
        session = self.sessions.get(session_id)
        if session is None or session.over:
            return 410
        session.queue.append((update, sealed))
        self.arrived.append((session_id, update, sealed))
        return 202

    def status(self, session_id: str, update: str) -> messages.Status | None:
        session = self.sessions.get(session_id)
        if session is None:
            return None
        if not session.over:
            return messages.SessionOpen()
        counted = sorted(w for w, ids in session.receipts.items() if update in ids)
        return messages.SessionOver(counted=tuple(counted))

    # What happens to sessions

    def flush(self, session: Session, *, only: Callable[[str], bool] = lambda _: True) -> None:
        """Count each id once, in the windows still open, and end."""
        shape = Shape.of(session.revision.client_task)
        open_windows = set(session.revision.windows(self.clock.now()))
        for update, sealed in dict(reversed(session.queue)).items():
            plain = session.keys.open(
                sealed, client_task=session.revision.sha256, session=session.id, update=update
            )
            windows, parts = unpack(plain, shape)
            for window, part in zip(windows, parts, strict=True):
                if window.id in open_windows and only(window.id):
                    session.receipts.setdefault(window.id, set()).add(update)
                    key = (session.revision.task, window.id)
                    self.counted.setdefault(key, []).append(part)
        session.over = True

    def flush_all(self) -> None:
        for session in self.sessions.values():
            if not session.over:
                self.flush(session)

    def kill(self, session: Session) -> None:
        session.over = True
        session.queue.clear()

    def forget(self, session: Session) -> None:
        del self.sessions[session.id]

    def windows_of(self, session_id: str, update: str, sealed: bytes) -> tuple[str, ...]:
        """What an update that arrived is for."""
        session = self.sessions[session_id]
        sha256 = session.revision.sha256
        plain = session.keys.open(sealed, client_task=sha256, session=session_id, update=update)
        windows, _ = unpack(plain, Shape.of(session.revision.client_task))
        return tuple(window.id for window in windows)

    def cells(self, task: str, window: str) -> Counter[int]:
        """How many parts have each cell: with one cell per phone, a 2 is a double count."""
        found: Counter[int] = Counter()
        for part in self.counted.get((task, window), []):
            found.update(part.ranks.tolist())
        return found
