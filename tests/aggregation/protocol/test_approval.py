"""The bytes that are signed, and what a device checks."""

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aggregation.errors import Problem
from aggregation.protocol.approval import approval_of, is_signed, key_id, sign

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
FIELDS = {
    "spec": "a" * 64,
    "client_task": "b" * 64,
    "server_config": "c" * 64,
    "author": "one",
    "approver": "two",
    "approved_at": datetime(2026, 11, 16, 12, tzinfo=UTC),
}
OTHER = {
    "spec": "d" * 64,
    "client_task": "d" * 64,
    "server_config": "d" * 64,
    "author": "three",
    "approver": "three",
    "approved_at": datetime(2026, 11, 9, 12, tzinfo=UTC),
}


def test_it_works():
    approval = approval_of(**FIELDS)
    assert is_signed(approval, sign(approval, KEY), KEY.public_key())
    assert approval.moment == FIELDS["approved_at"]


def test_the_bytes_are_as_documented():
    """Byte for byte: an independent client verifies these."""
    assert approval_of(**FIELDS).signed_bytes() == (
        b"mayfly approval 1\n"
        b'{"approved_at":"2026-11-16T12:00:00.000000Z","approver":"two","author":"one",'
        b'"client_task":"' + b"b" * 64 + b'","server_config":"' + b"c" * 64 + b'",'
        b'"spec":"' + b"a" * 64 + b'"}'
    )
    assert sign(approval_of(**FIELDS), KEY).hex().startswith("fe7e16e9c73249496b350f9956ff7e24")
    assert key_id(KEY.public_key()) == "56475aa75463474c"


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_signed(field):
    signature = sign(approval_of(**FIELDS), KEY)
    changed = approval_of(**{**FIELDS, field: OTHER[field]})
    assert not is_signed(changed, signature, KEY.public_key())


def test_another_key_signs_nothing():
    approval = approval_of(**FIELDS)
    other = Ed25519PrivateKey.from_private_bytes(bytes(32))
    assert not is_signed(approval, sign(approval, other), KEY.public_key())


@pytest.mark.parametrize("signature", [b"", b"\0" * 64, b"short"])
def test_garbage_is_no_signature(signature):
    assert not is_signed(approval_of(**FIELDS), signature, KEY.public_key())


def test_one_person_is_not_two():
    with pytest.raises(Problem, match="cannot approve"):
        approval_of(**{**FIELDS, "approver": "one"})


def test_one_person_s_signed_approval_does_not_verify():
    alone = msgspec.structs.replace(approval_of(**FIELDS), approver="one")
    assert not is_signed(alone, sign(alone, KEY), KEY.public_key())


@pytest.mark.parametrize("value", ["", "A" * 64, "a" * 63, "g" * 64])
def test_it_refuses_what_is_no_hash(value):
    with pytest.raises(Problem, match="no hash"):
        approval_of(**{**FIELDS, "spec": value})


def test_a_moment_is_the_same_in_every_time_zone():
    there = FIELDS["approved_at"].astimezone(timezone(timedelta(hours=9)))
    assert approval_of(**{**FIELDS, "approved_at": there}) == approval_of(**FIELDS)
