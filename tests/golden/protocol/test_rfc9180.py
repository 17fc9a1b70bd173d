"""The written-out HPKE gives the RFC's own vector, and opens what the library seals."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from aggregation.protocol.sealing import SessionKeys, seal, seal_state
from tests.golden.protocol import rfc9180

# RFC 9180, appendix A.1.1.
EPHEMERAL = "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736"
RECIPIENT = "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8"
INFO = b"Ode on a Grecian Urn"
SHARED = "fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc"
CIPHERTEXT = (
    "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"
)


def test_it_gives_the_vector_of_the_rfc() -> None:
    private = bytes.fromhex(RECIPIENT)
    public = X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()
    context = rfc9180.sender(ephemeral=bytes.fromhex(EPHEMERAL), recipient=public, info=INFO)
    assert context.shared_secret.hex() == SHARED
    sealed = context.seal(b"Beauty is truth, truth beauty", b"Count-0")
    assert sealed[32:].hex() == CIPHERTEXT
    assert rfc9180.receiver(enc=sealed[:32], private=private, info=INFO) == context


def test_it_opens_what_the_library_seals() -> None:
    """So the library's bytes are enc ‖ ciphertext ‖ tag, with an empty AAD."""
    key = X25519PrivateKey.generate()
    public = SessionKeys(key).public
    sealed = seal(
        b"plain", public=public, client_task="ab" * 32, session="cd" * 16, update="ef" * 8
    )
    info = b"mayfly update 1\n" + b"\xab" * 32 + b"\xcd" * 16 + b"\xef" * 8
    context = rfc9180.receiver(enc=sealed[:32], private=key.private_bytes_raw(), info=info)
    assert context.open(sealed) == b"plain"


def test_a_hand_over_is_bound_to_its_own_words() -> None:
    key = X25519PrivateKey.generate()
    sealed = seal_state(
        b"state",
        public=SessionKeys(key).public,
        from_session="12" * 16,
        to_session="34" * 16,
        window_id="2026-11-09",
    )
    info = b"mayfly hand-over 1\n" + b"\x12" * 16 + b"\x34" * 16 + b"2026-11-09"
    context = rfc9180.receiver(enc=sealed[:32], private=key.private_bytes_raw(), info=info)
    assert context.open(sealed) == b"state"
