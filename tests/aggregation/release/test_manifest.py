"""The card says what is guaranteed; the manifest is signed; openssl alone can check it."""

import hashlib
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aggregation.errors import Problem
from aggregation.protocol.approval import approval_of, key_id
from aggregation.protocol.approval import sign as sign_approval
from aggregation.protocol.windows import Unit, Window
from aggregation.release.card import GuaranteeCard, card_of
from aggregation.release.manifest import Manifest, public_pem, read_manifest, sign, verify
from aggregation.release.noised import Noised
from tests.aggregation.release.examples import KINDS, clip_uncertainty, recipe, some_sums

WEEK = Window.parse("2026-11-09", Unit.WEEK)
APPROVAL_KEY, RELEASE_KEY = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()


def card(kind: str = "group_scaling", **changes: object) -> GuaranteeCard:
    made = recipe(kind, **changes)
    approval = approval_of(
        spec="a" * 64,
        client_task=made.config.client_task,
        server_config=made.config.sha256,
        author="person-1",
        approver="person-2",
        approved_at=datetime(2026, 11, 8, 9, tzinfo=UTC),
    )
    return card_of(
        task="weekly-trips",
        window=WEEK,
        recipe=made,
        noised=Noised(some_sums(made)),
        approval=approval,
        approval_signature=sign_approval(approval, APPROVAL_KEY),
        approval_key=key_id(APPROVAL_KEY.public_key()),
        released_at=datetime(2026, 11, 23, tzinfo=UTC),
        software="0.1.0",
    )


@pytest.fixture
def manifest() -> Manifest:
    return Manifest(card=card(), files={"cells.parquet": hashlib.sha256(b"cells").hexdigest()})


def _verified(manifest: Manifest, signature: bytes, **given: object) -> list[str]:
    """What does not hold."""
    checks = verify(
        manifest.canonical(), signature, key=RELEASE_KEY.public_key(),
        approval_key=APPROVAL_KEY.public_key(), **given,
    )  # fmt: skip
    return [check.what for check in checks if not check.holds]


def test_it_works(manifest: Manifest) -> None:
    signature = sign(manifest, RELEASE_KEY)
    assert _verified(manifest, signature, files={"cells.parquet": b"cells"}) == []
    assert read_manifest(manifest.canonical()) == manifest


@pytest.mark.parametrize("kind", KINDS)
def test_the_card_says_what_was_done(kind: str) -> None:
    found = card(kind, epsilon="0.75")
    assert (found.epsilon, found.delta, found.epsilon_replace_one) == ("0.75", "0", "1.5")
    assert found.sensitivity == 2**20
    assert found.noise == "discrete Laplace of scale 1048576/0.75, exact"
    assert found.mechanism == kind
    assert found.unit == "one device in one week"
    assert (found.window_start, found.window_end) == (
        "2026-11-09T00:00:00Z",
        "2026-11-16T00:00:00Z",
    )
    assert found.cells == 16


def test_the_card_says_what_is_not_guaranteed() -> None:
    said = {s.topic: s.text for s in card().statements}
    assert "twice the ε" in said["A device, not a person"]
    assert "device's clock" in said["The device's own clock"]
    assert "accepted" in said["Accepted parts"]
    assert "trips" in said["Per stream"]
    assert "outside this ε" in said["Parameters"]
    assert "AES-256" in said["Randomness"]
    assert "ε = 4" in said["Neighbours"]
    assert "What clipping took away is not in them" in said["Intervals"]
    fitted = card(clip_uncertainty=clip_uncertainty(0.5))
    told = {line.topic: line.text for line in fitted.statements}["Intervals"]
    assert "hold two terms" in told
    assert "A proxy of this test." in told


def test_the_card_tells_nothing_about_how_many_contributed() -> None:
    """It is made of the approved task and the noised numbers alone: no report goes in."""
    names = {field.name for field in msgspec.structs.fields(GuaranteeCard)}
    assert not {n for n in names if "contribution" in n or "count" in n or "device" in n}


def test_any_change_is_noticed(manifest: Manifest) -> None:
    signature = sign(manifest, RELEASE_KEY)
    other = msgspec.structs.replace(manifest.card, epsilon="0.1")
    assert _verified(msgspec.structs.replace(manifest, card=other), signature) == ["signature"]
    assert _verified(manifest, sign(manifest, APPROVAL_KEY)) == ["signature"]
    assert _verified(manifest, signature, files={"cells.parquet": b"other"}) == ["cells.parquet"]
    assert _verified(manifest, signature, files={"more.parquet": b""}) == ["more.parquet"]


def test_an_approval_by_another_key_is_noticed(manifest: Manifest) -> None:
    forged = sign_approval(manifest.card.approval, RELEASE_KEY).hex()
    other = msgspec.structs.replace(manifest.card, approval_signature=forged)
    changed = msgspec.structs.replace(manifest, card=other)
    assert _verified(changed, sign(changed, RELEASE_KEY)) == ["approval"]
    other = msgspec.structs.replace(manifest.card, approval_signature="no hex")
    changed = msgspec.structs.replace(manifest, card=other)
    assert _verified(changed, sign(changed, RELEASE_KEY)) == ["approval"]


def test_a_signature_for_another_purpose_does_not_pass(manifest: Manifest) -> None:
    bare = RELEASE_KEY.sign(manifest.canonical())
    assert _verified(manifest, bare) == ["signature"]


@pytest.mark.parametrize("raw", [b"", b"{}", b'{"version": 1}', b"[]", b"\xff"])
def test_other_bytes_are_refused(raw: bytes) -> None:
    with pytest.raises(Problem, match="not the manifest"):
        read_manifest(raw)


def test_another_spelling_is_refused(manifest: Manifest) -> None:
    with pytest.raises(Problem, match="not the manifest"):
        read_manifest(manifest.canonical().replace(b'":', b'": '))


def test_openssl_alone_can_check_it(manifest: Manifest, tmp_path: Path) -> None:
    """The two commands of the module's docstring, as they stand there."""
    (tmp_path / "manifest.json").write_bytes(manifest.canonical())
    (tmp_path / "manifest.sig").write_bytes(sign(manifest, RELEASE_KEY))
    (tmp_path / "key.pem").write_bytes(public_pem(RELEASE_KEY.public_key()))
    (tmp_path / "cells.parquet").write_bytes(b"cells")
    script = """
    (printf 'mayfly release 1\\n'; cat manifest.json) > signed.bin
    openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile manifest.sig
    openssl dgst -sha256 cells.parquet
    """
    done = subprocess.run(["sh", "-ec", script], cwd=tmp_path, capture_output=True, text=True,
                          timeout=30, check=True)  # fmt: skip
    assert "Signature Verified Successfully" in done.stdout
    assert manifest.files["cells.parquet"] in done.stdout
    (tmp_path / "manifest.json").write_bytes(manifest.canonical().replace(b'"2"', b'"1"', 1))
    failed = subprocess.run(["sh", "-ec", script], cwd=tmp_path, capture_output=True, timeout=30,
                            check=False)  # fmt: skip
    assert failed.returncode != 0


def test_hashes_are_those_of_the_task(manifest: Manifest) -> None:
    found = manifest.card
    assert found.server_config == recipe().config.sha256 == found.approval.server_config
    assert found.noised == Noised(some_sums(recipe())).sha256
