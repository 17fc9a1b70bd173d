"""HPKE written out from RFC 9180, for one suite, with a given ephemeral key.

DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, base mode, one message. It is used to write
golden vectors, which need the same bytes each time, and to check that the library seals nothing
but what the RFC says. Comments name the RFC's sections.
"""

import hashlib
import hmac
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEM_SUITE = b"KEM" + (0x0020).to_bytes(2, "big")
HPKE_SUITE = b"HPKE" + b"".join(n.to_bytes(2, "big") for n in (0x0020, 0x0001, 0x0001))


@dataclass(frozen=True)
class Context:
    """What both sides derive (5.1); the nonce is the base nonce, since the sequence number is 0."""

    enc: bytes
    shared_secret: bytes
    key: bytes
    nonce: bytes

    def seal(self, plain: bytes, aad: bytes = b"") -> bytes:
        return self.enc + AESGCM(self.key).encrypt(self.nonce, plain, aad)

    def open(self, sealed: bytes, aad: bytes = b"") -> bytes:
        return AESGCM(self.key).decrypt(self.nonce, sealed[32:], aad)


def sender(*, ephemeral: bytes, recipient: bytes, info: bytes) -> Context:
    """From the ephemeral private key and the recipient's public key (4.1, Encap)."""
    private = X25519PrivateKey.from_private_bytes(ephemeral)
    enc = private.public_key().public_bytes_raw()
    dh = private.exchange(X25519PublicKey.from_public_bytes(recipient))
    return _context(enc, recipient, dh, info)


def receiver(*, enc: bytes, private: bytes, info: bytes) -> Context:
    """From the encapsulated key and the recipient's private key (4.1, Decap)."""
    key = X25519PrivateKey.from_private_bytes(private)
    dh = key.exchange(X25519PublicKey.from_public_bytes(enc))
    return _context(enc, key.public_key().public_bytes_raw(), dh, info)


def _context(enc: bytes, recipient: bytes, dh: bytes, info: bytes) -> Context:
    # ExtractAndExpand (4.1)
    eae_prk = _extract(KEM_SUITE, b"", b"eae_prk", dh)
    shared_secret = _expand(KEM_SUITE, eae_prk, b"shared_secret", enc + recipient, 32)
    # KeySchedule (5.1): mode 0, no pre-shared key
    psk_id_hash = _extract(HPKE_SUITE, b"", b"psk_id_hash", b"")
    info_hash = _extract(HPKE_SUITE, b"", b"info_hash", info)
    schedule = b"\x00" + psk_id_hash + info_hash
    secret = _extract(HPKE_SUITE, shared_secret, b"secret", b"")
    return Context(
        enc=enc,
        shared_secret=shared_secret,
        key=_expand(HPKE_SUITE, secret, b"key", schedule, 16),
        nonce=_expand(HPKE_SUITE, secret, b"base_nonce", schedule, 12),
    )


def _extract(suite: bytes, salt: bytes, label: bytes, ikm: bytes) -> bytes:
    """LabeledExtract (4)."""
    return _hmac(salt or bytes(32), b"HPKE-v1" + suite + label + ikm)


def _expand(suite: bytes, prk: bytes, label: bytes, info: bytes, size: int) -> bytes:
    """LabeledExpand (4); one block of HKDF is enough for every length here."""
    labeled = size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return _hmac(prk, labeled + b"\x01")[:size]


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()
