"""The worker's signature over a session's key, as a device checks it."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aggregation.errors import Problem
from aggregation.protocol.session_key import is_session_key, sign_session_key

WORKER = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
FIELDS = {"session": "cd" * 16, "client_task": "ab" * 32, "public": b"\x09" * 32}
OTHER = {"session": "ce" * 16, "client_task": "aa" * 32, "public": b"\x0a" * 32}
SIGNATURE = sign_session_key(WORKER, **FIELDS)  # type: ignore[arg-type]


def test_it_works() -> None:
    assert is_session_key(WORKER.public_key(), SIGNATURE, **FIELDS)  # type: ignore[arg-type]


def test_the_bytes_are_as_documented() -> None:
    WORKER.public_key().verify(
        SIGNATURE,
        b"mayfly session 1\n"
        b'{"client_task":"' + b"ab" * 32 + b'","public_key":"' + b"09" * 32 + b'",'
        b'"session":"' + b"cd" * 16 + b'"}',
    )


@pytest.mark.parametrize("name", FIELDS)
def test_it_is_good_for_no_other(name: str) -> None:
    fields = {**FIELDS, name: OTHER[name]}
    assert not is_session_key(WORKER.public_key(), SIGNATURE, **fields)  # type: ignore[arg-type]


def test_another_worker_key_does_not_verify_it() -> None:
    stranger = Ed25519PrivateKey.generate().public_key()
    assert not is_session_key(stranger, SIGNATURE, **FIELDS)  # type: ignore[arg-type]


@pytest.mark.parametrize("signature", [b"", SIGNATURE[:-1], SIGNATURE + b"\0", bytes(64)])
def test_anything_else_is_a_no(signature: bytes) -> None:
    assert not is_session_key(WORKER.public_key(), signature, **FIELDS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields", [{"session": "CD" * 16}, {"client_task": "ab"}, {"public": b"\x09" * 31}]
)
def test_what_is_malformed_is_neither_signed_nor_good(fields: dict[str, object]) -> None:
    malformed = {**FIELDS, **fields}
    with pytest.raises(Problem):
        sign_session_key(WORKER, **malformed)  # type: ignore[arg-type]
    assert not is_session_key(WORKER.public_key(), SIGNATURE, **malformed)  # type: ignore[arg-type]
