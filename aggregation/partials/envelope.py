"""The envelope of a stored partial: encrypted, bound to its row, padded.

A partial is as sensitive as the updates in it: most of its cells hold few devices. Its bytes are
sealed with AES-256-GCM under a key that is erased when they are no longer needed (`keys`).

    envelope = "mayfly partial" ‖ version (1 byte) ‖ key id (16) ‖ nonce (12) ‖ ciphertext ‖ tag
    plain    = length of the state (8 bytes, little-endian) ‖ state ‖ zeros

- **It opens in its own row only.** What the database says about the row (table, partial, task,
  window, level, session) and the header are authenticated with it: bytes moved to another row, or
  a row whose columns were changed, do not open. Otherwise whoever writes to the database could
  have one window's sums released, or counted twice, under the name of another.
- **Its length says little.** The plain bytes fill the next power of two from 4 kB on, so that an
  envelope does not tell how many cells were touched.
- **A nonce does not come twice under one key.** It is random, 96 bits, and a key seals one level
  of one window for one day: far below 2^32 envelopes, where the chance of a repeat is 2^-33.

Errors say what does not fit and never hold bytes of either side.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import date
from typing import Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from aggregation.errors import Problem
from aggregation.partials.keys import KeyName, PartialKey
from aggregation.protocol.windows import Window

_MAGIC: Final = b"mayfly partial\x01"
_KEY_ID: Final = slice(len(_MAGIC), len(_MAGIC) + 16)
_NONCE: Final = slice(_KEY_ID.stop, _KEY_ID.stop + 12)
_LENGTH_BYTES: Final = 8
_SMALLEST: Final = 4096


@dataclass(frozen=True)
class Label:
    """Where a partial is stored: no envelope opens under any other label."""

    table: str
    # The partial's own id.
    partial: str
    task: str
    window: Window
    level: int
    # The session that flushed it; empty for what a merge made.
    session: str

    def key_name(self, day: date) -> KeyName:
        """The key that seals it if it is sealed on this UTC day."""
        return KeyName(self.task, self.window.id, self.level, day)

    def canonical(self) -> bytes:
        """One spelling for each label: JSON keeps fields apart whatever they hold."""
        fields = [self.table, self.partial, self.task, self.window.unit.value, self.window.id]
        return msgspec.json.encode([*fields, self.level, self.session])


def seal_partial(state: bytes, *, label: Label, key: PartialKey) -> bytes:
    """The envelope of a partial's state. The key is the one named by the label."""
    _refuse_other_key(label, key)
    nonce = secrets.token_bytes(12)
    header = _MAGIC + key.id + nonce
    return header + AESGCM(key.secret).encrypt(nonce, _padded(state), header + label.canonical())


def open_partial(envelope: bytes, *, label: Label, key: PartialKey) -> bytes:
    """The state that was sealed under this label and key; anything else is refused."""
    _refuse_other_key(label, key)
    header = envelope[: _NONCE.stop]
    if not header.startswith(_MAGIC):
        raise Problem(f"What is stored as partial {label.partial} is not an envelope we can read.")
    if header[_KEY_ID] != key.id:
        raise Problem(
            f"The partial {label.partial} was sealed with another key than that for {key.name}.",
            hint="Its own key has been erased; the one there now was made later.",
        )
    try:
        plain = AESGCM(key.secret).decrypt(
            header[_NONCE], envelope[_NONCE.stop :], header + label.canonical()
        )
    except (InvalidTag, ValueError):
        raise Problem(
            f"The partial {label.partial} does not open: it, or its row, is not as it was stored.",
            hint="It was moved or tampered with. Read the audit log; do not release its window.",
        ) from None
    return _unpadded(plain, label)


def _refuse_other_key(label: Label, key: PartialKey) -> None:
    if label.key_name(key.name.day) != key.name:
        raise Problem(f"The partial {label.partial} is not sealed with the key for {key.name}.")


def _padded(state: bytes) -> bytes:
    size = _padded_size(len(state))
    padding = bytes(size - _LENGTH_BYTES - len(state))
    return b"".join((len(state).to_bytes(_LENGTH_BYTES, "little"), state, padding))


def _padded_size(length: int) -> int:
    return max(_SMALLEST, 1 << (_LENGTH_BYTES + length - 1).bit_length())


def _unpadded(plain: bytes, label: Label) -> bytes:
    length = int.from_bytes(plain[:_LENGTH_BYTES], "little")
    if _padded_size(length) != len(plain):
        raise Problem(f"The partial {label.partial} is padded in a way that we do not pad.")
    return plain[_LENGTH_BYTES : _LENGTH_BYTES + length]
