"""Keys of collection: the workers' signing key, the keys of partials, and what devices pin."""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

from aggregation.partials.keys import KeyFolder
from portal.kept_secrets import kept_secret
from portal.tasks.signing import approval_public_key


def worker_key() -> Ed25519PrivateKey:
    """Signs the public keys of sessions; all workers share it."""
    return Ed25519PrivateKey.from_private_bytes(kept_secret("worker-key"))


def partial_keys() -> KeyFolder:
    return KeyFolder(Path(settings.KEYS_DIR) / "partials")


def device_keys() -> dict[str, str]:
    """The two public keys that a device pins, in hex."""
    return {
        "approval": approval_public_key().public_bytes_raw().hex(),
        "worker": worker_key().public_key().public_bytes_raw().hex(),
    }
