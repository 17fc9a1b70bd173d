"""The golden vectors: what the code says today is what devices were told, byte for byte."""

import hashlib
import json
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from aggregation.protocol.approval import Approval, is_signed, key_id
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.messages import Assigned, Assignments, read_answer
from aggregation.protocol.sealing import SessionKeys
from aggregation.protocol.session_key import is_session_key
from aggregation.protocol.tokens import is_token
from aggregation.protocol.update import Shape, unpack
from aggregation.protocol.windows import Unit
from tests.golden.protocol.vectors import VECTORS
from tests.golden.protocol.write import path_of, text_of


def read(name: str) -> Any:
    return json.loads(path_of(name).read_text())


@pytest.mark.parametrize("name", VECTORS)
def test_the_code_gives_the_committed_vectors(name: str) -> None:
    assert text_of(name) == path_of(name).read_text()


def test_the_sealed_update_opens_with_the_private_key() -> None:
    vector = read("sealing")
    keys = SessionKeys(
        X25519PrivateKey.from_private_bytes(bytes.fromhex(vector["session_private_key"]))
    )
    assert keys.public.hex() == vector["session_public_key"]
    plain = keys.open(
        bytes.fromhex(vector["sealed"]),
        client_task=vector["client_task"],
        session=vector["session"],
        update=vector["update"],
    )
    assert plain.hex() == vector["plain"]
    windows, parts = unpack(plain, Shape(Unit.WEEK, 4, 3))
    run = read("executions")[0]
    assert [window.id for window in windows] == [run["window"]]
    assert parts[0].ranks.tolist() == run["part"]["ranks"]
    assert parts[0].values.tolist() == run["part"]["values"]


@pytest.mark.parametrize("vector", read("updates"), ids=lambda vector: vector["name"])
def test_updates_are_unpacked_to_their_parts(vector: dict[str, Any]) -> None:
    shape = Shape(Unit(vector["window_unit"]), vector["max_rows"], vector["metrics"])
    raw = bytes.fromhex(vector["bytes"])
    windows, parts = unpack(raw, shape)
    assert [window.id for window in windows] == vector["windows"]
    assert [
        {"ranks": part.ranks.tolist(), "values": part.values.tolist()} for part in parts
    ] == vector["parts"]
    assert len(raw) == vector["length"]


def test_an_assignment_verifies_with_the_two_pinned_keys() -> None:
    """All that a device checks before it runs anything, from the committed bytes alone."""
    signed, task = read("signatures"), read("client-task")
    body = read("messages")["assignments answer"].encode()
    assigned = read_answer(Assignments, body).assignments[0]
    assert isinstance(assigned, Assigned)
    approval_key, worker_key = (_public(signed[name]) for name in ("approval", "session_key"))
    assert assigned.key_id == key_id(approval_key)
    assert is_signed(assigned.approval, bytes.fromhex(assigned.signature), approval_key)
    assert is_session_key(
        worker_key,
        bytes.fromhex(assigned.session_signature),
        session=assigned.session,
        client_task=assigned.client_task,
        public=bytes.fromhex(assigned.public_key),
    )
    key = bytes.fromhex(signed["token"]["key"])
    assert is_token(key, assigned.token, session=assigned.session, update=assigned.update)
    assert hashlib.sha256(task["body"].encode()).hexdigest() == assigned.client_task
    assert assigned.approval.client_task == assigned.client_task


def test_the_client_task_reads_back_to_the_same_bytes() -> None:
    body = read("client-task")["body"].encode()
    assert msgspec.json.decode(body, type=ClientTask).canonical() == body


def test_the_signed_bytes_are_a_line_and_sorted_json() -> None:
    vector = read("signatures")["approval"]
    line, text = vector["signed_bytes"].split("\n")
    assert line == "mayfly approval 1"
    plain = json.dumps(vector["approval"], sort_keys=True, separators=(",", ":"))
    assert text == plain
    assert msgspec.convert(vector["approval"], Approval).signed_bytes().decode().endswith(plain)


def _public(vector: dict[str, str]) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(vector["public_key"]))
