"""An open task that real phones believe: approved and vouched for by a peer's keys."""

from typing import Any

import msgspec

from aggregation.protocol.approval import key_id
from aggregation.protocol.sealing import SessionKeys
from aggregation.protocol.session_key import sign_session_key
from aggregation.protocol.windows import Window
from tests.devices_sim.peer import Peer


def signed_task(peer: Peer, keys: SessionKeys, session: str, window: Window) -> dict[str, Any]:
    """The peer's first revision in a front end's snapshot, with one session."""
    revision = peer.revisions[0]
    task, public = revision.client_task, keys.public
    signature = sign_session_key(
        peer.worker_key, session=session, client_task=revision.sha256, public=public
    )
    opened = {"id": session, "public_key": public.hex(), "signature": signature.hex(), "load": 0.0}
    return {
        "task": revision.task,
        "client_task": revision.sha256,
        "populations": ["all"],
        "window_unit": "week",
        "windows": [window.id],
        "eligibility": msgspec.to_builtins(task.eligibility),
        "schedule": msgspec.to_builtins(task.schedule),
        "approval": msgspec.to_builtins(revision.approval),
        "signature": revision.signature.hex(),
        "key_id": key_id(peer.approval_key.public_key()),
        "max_sealed": 5000,
        "sessions": [opened],
    }
