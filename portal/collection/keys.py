"""Keys of collection: the workers' signing key, the keys of partials, and what devices pin."""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

from aggregation.partials.keys import KeyFolder
from portal.kept_secrets import PARTIALS, kept_secret, refuse_empty_folder, trusted_keys
from portal.tasks.signing import APPROVAL, approval_public_key

WORKER = "worker-key"


def worker_key() -> Ed25519PrivateKey:
    """Signs the public keys of sessions; all workers share it."""
    return Ed25519PrivateKey.from_private_bytes(kept_secret(WORKER))


def partial_keys() -> KeyFolder:
    refuse_empty_folder()
    return KeyFolder(Path(settings.KEYS_DIR) / PARTIALS)


def device_keys() -> dict[str, str]:
    """The two public keys that a device pins, in hex."""
    return {
        "approval": approval_public_key().public_bytes_raw().hex(),
        "worker": worker_key().public_key().public_bytes_raw().hex(),
    }


def pinned_keys() -> dict[str, str | dict[str, list[str]]]:
    """The same, and beside them those that are announced, or that signed before."""
    others = {"approval": trusted_keys(APPROVAL)[1:], "worker": trusted_keys(WORKER)[1:]}
    also = {name: [key.public_bytes_raw().hex() for key in keys] for name, keys in others.items()}
    return {**device_keys(), "also": also}
