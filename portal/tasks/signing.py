"""The key that signs approvals: a file outside the database and its backups.

Whoever can write to the database can change its rows and drop its triggers. Without this file
they cannot make an approval that verifies: activation, every window's opening and every device
check the signature, so such a row runs nowhere.
"""

import hashlib
import hmac
from datetime import datetime

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from aggregation.errors import Problem
from aggregation.protocol.approval import Approval, approval_of, is_signed, key_id, sign
from aggregation.protocol.client_task import ClientTask, digest_of_name
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.update import Shape
from portal.accounts.models import Person
from portal.kept_secrets import kept_secret, trusted_keys
from portal.ledger.amounts import hundredths_of
from portal.tasks.models import Revision

APPROVAL = "approval-key"


def approval_for(revision: Revision, *, approver: Person, approved_at: datetime) -> Approval:
    return approval_of(
        spec=revision.spec_sha256,
        client_task=revision.client_task_sha256,
        server_config=revision.server_config_sha256,
        author=opaque_id(revision.author_id),
        approver=opaque_id(approver.pk),
        approved_at=approved_at,
    )


def sign_approval(approval: Approval) -> tuple[str, str]:
    """The id of the key, and the signature in hex."""
    key = _signing_key()
    return key_id(key.public_key()), sign(approval, key).hex()


def is_trusted(revision: Revision) -> bool:
    """Whether the revision's own content was approved by a second person: the key says so.

    What this version cannot read is not trusted either.
    """
    if revision.state != Revision.State.APPROVED or not revision.approver or not revision.signature:
        return False
    return _columns_hold(revision) and _signature_holds(revision, revision.approver)


def _columns_hold(revision: Revision) -> bool:
    """Each column says what the signed documents say: a price of its own would cheat the ledger,
    and so would a row of another task, which has windows of its own."""
    hashes = (
        (revision.spec_json, revision.spec_sha256),
        (revision.client_task_json, revision.client_task_sha256),
        (revision.server_config_json, revision.server_config_sha256),
    )
    if any(hashlib.sha256(text.encode()).hexdigest() != named for text, named in hashes):
        return False
    config = _config(revision)
    return (
        config is not None
        and config.client_task == revision.client_task_sha256
        and hundredths_of(config.epsilon) == revision.epsilon
        and config.window_unit == revision.window_unit
        and list(config.streams) == revision.streams
    )


def _config(revision: Revision) -> ServerConfig | None:
    """Its server config, if both of its documents are of its task, and this version can carry them
    out.

    All tasks are served by the same loops: one that cannot be read is passed over by all of them,
    and stops no other.
    """
    try:
        client_task = msgspec.json.decode(revision.client_task_json, type=ClientTask)
        Shape.of(client_task)
        config = msgspec.json.decode(revision.server_config_json, type=ServerConfig)
    except (msgspec.DecodeError, Problem):
        return None
    return config if client_task.task == digest_of_name(revision.task.name) else None


def _signature_holds(revision: Revision, approver: Person) -> bool:
    try:
        signature = bytes.fromhex(revision.signature)
        at = revision.approved_at
        assert at is not None  # noqa: S101 - the database keeps it with the approver
        approval = approval_for(revision, approver=approver, approved_at=at)
    except (ValueError, Problem):
        return False
    return any(is_signed(approval, signature, key) for key in trusted_keys(APPROVAL))


def approval_public_key() -> Ed25519PublicKey:
    """What a device pins."""
    return _signing_key().public_key()


def opaque_id(person_id: int) -> str:
    """Tells people apart to whoever sees an approval, and says nothing about who they are."""
    return hmac.new(
        kept_secret("people-key"), f"person {person_id}".encode(), "sha256"
    ).hexdigest()[:32]


def _signing_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(kept_secret(APPROVAL))
