"""The key that signs releases: a file outside the database and its backups.

Two things are signed. The card, in the transaction that makes the release: it names the hash of
the noised numbers, so that from then on nobody who can only write to the database can put other
numbers in their place. And the manifest, which holds the card and the hashes of all files, once
they are made.
"""

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from aggregation.release.card import GuaranteeCard
from portal.kept_secrets import kept_secret, trusted_keys

# No other signature of ours begins so.
_PURPOSE = b"mayfly card 1\n"
RELEASE = "release-key"


def card_text(card: GuaranteeCard) -> str:
    """The one spelling of a card: JSON, sorted fields, no spaces."""
    return msgspec.json.encode(card, order="sorted").decode()


def read_card(text: str) -> GuaranteeCard:
    return msgspec.json.decode(text, type=GuaranteeCard)


def sign_card(text: str) -> str:
    return release_key().sign(_PURPOSE + text.encode()).hex()


def is_card_signed(text: str, signature: str) -> bool:
    return any(_is_signed_with(key, text, signature) for key in release_public_keys())


def _is_signed_with(key: Ed25519PublicKey, text: str, signature: str) -> bool:
    try:
        key.verify(bytes.fromhex(signature), _PURPOSE + text.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def release_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(kept_secret(RELEASE))


def release_public_keys() -> list[Ed25519PublicKey]:
    """What anyone checks a release with: those that are announced, or signed earlier ones, too."""
    return trusted_keys(RELEASE)
