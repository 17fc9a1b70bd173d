"""What /docs/verify-a-release tells people to type does check a release, and finds a false one."""

import subprocess

import pytest
from django.test import Client

from aggregation.release.manifest import public_pem
from portal import kept_secrets
from portal.releases import rendering, running
from portal.releases.models import Release
from portal.releases.signing import RELEASE, release_key
from portal.releases.verification import checks_of
from tests.portal.pages.reading_docs import fences
from tests.portal.releases.test_releasing import DUE


@pytest.fixture
def folder(collecting, tmp_path):
    """What a reader has downloaded."""
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    source, folder = rendering.folder_of(Release.objects.get()), tmp_path / "downloads"
    folder.mkdir()
    for name in ("manifest.json", "manifest.sig", "cells.parquet"):
        (folder / name).write_bytes((source / name).read_bytes())
    (folder / "key.pem").write_bytes(Client().get("/releases/key.pem").content)
    return folder


def typed(folder):
    """All commands of the page, one shell, as one would type them."""
    commands = "".join(block.content for block in fences("verify-a-release", "sh openssl"))
    assert commands.count("openssl") == 2
    return subprocess.run(
        ["sh", "-e", "-c", commands], cwd=folder, capture_output=True, text=True, check=False
    )


def test_it_works(folder):
    done = typed(folder)
    assert done.returncode == 0, done.stderr
    assert "Signature Verified Successfully" in done.stdout
    assert "cells.parquet is the file that was signed for" in done.stdout


@pytest.mark.parametrize("name", ["manifest.json", "manifest.sig", "cells.parquet"])
def test_it_finds_a_change(folder, name):
    raw = bytearray((folder / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (folder / name).write_bytes(bytes(raw))
    assert typed(folder).returncode != 0


def test_it_finds_another_key(folder):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    other = public_pem(Ed25519PrivateKey.generate().public_key())
    assert other != public_pem(release_key().public_key())
    (folder / "key.pem").write_bytes(other)
    assert typed(folder).returncode != 0


def test_a_release_still_verifies_after_its_key_was_rotated(folder):
    """With `key.pem` as it is now, its own key moved to the front as the page says."""
    release = Release.objects.select_related("rendering", "window__task").get()
    kept_secrets.announce(RELEASE)
    kept_secrets.rotate(RELEASE)
    assert all(check.holds for check in checks_of(release))
    pem = Client().get("/releases/key.pem").content
    assert pem.startswith(public_pem(release_key().public_key()))
    (folder / "key.pem").write_bytes(pem)
    assert typed(folder).returncode != 0, "openssl reads the first key alone"
    end = b"-----END PUBLIC KEY-----\n"
    (folder / "key.pem").write_bytes(end.join(reversed(pem.split(end)[:-1])) + end)
    assert typed(folder).returncode == 0
    told = Client().get("/api/v1/release-key").json()
    assert (told["pem"] + "".join(told["others"])).encode() == pem


def test_a_release_of_a_leaked_key_does_not_verify(folder):
    release = Release.objects.select_related("rendering", "window__task").get()
    kept_secrets.announce(RELEASE)
    kept_secrets.rotate(RELEASE, trust_earlier=False)
    failed = {check.what for check in checks_of(release) if not check.holds}
    assert failed == {"card", "signature"}
