"""Rotating signing keys: announced first; what the old one signed holds, unless it leaked."""

import json

import pytest
from django.core.management import call_command

from aggregation.errors import Problem
from aggregation.protocol.approval import key_id
from portal import kept_secrets
from portal.audit.models import Entry
from portal.tasks import running, signing


@pytest.fixture
def keys(settings, tmp_path):
    settings.KEYS_DIR = tmp_path / "rotated"
    settings.KEYS_DIR.mkdir(mode=0o700)
    return settings.KEYS_DIR


@pytest.fixture
def olga(person):
    return person("operator", username="olga")


def rotate(*options: str) -> None:
    call_command("rotate_keys", "approval", "--by", "olga", *options)


def test_it_works(keys, submitted, approve, olga):
    before = approve(submitted())
    old = (keys / "approval-key").read_bytes()
    rotate("--announce")
    assert (keys / "approval-key").read_bytes() == old, "it signs, until the next one takes over"
    rotate()
    assert (keys / "approval-key").read_bytes() != old
    assert signing.is_trusted(before)
    assert key_id(signing.approval_public_key()) != before.key_id
    # Of the old key nothing is left but its public half.
    assert not [path for path in keys.iterdir() if old in path.read_bytes()]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in keys.iterdir())


def test_what_the_new_key_signs_is_trusted_beside_what_the_old_one_did(
    keys, submitted, approve, olga
):
    first = approve(submitted())
    rotate("--announce")
    rotate()
    second = approve(submitted(name="another-task"))
    assert first.key_id != second.key_id
    assert signing.is_trusted(first)
    assert signing.is_trusted(second)


def test_devices_can_know_the_next_key_before_it_signs(keys, olga, client, capsys):
    rotate("--announce")
    told = client.get("/api/v1/device-keys").json()
    (announced,) = told["also"]["approval"]
    old = told["approval"]
    rotate()
    told = client.get("/api/v1/device-keys").json()
    assert (told["approval"], told["also"]["approval"]) == (announced, [old])
    capsys.readouterr()
    call_command("device_keys")
    assert json.loads(capsys.readouterr().out) == told


def test_several_kinds_are_rotated_at_once(keys, olga):
    kinds = ("approval", "worker", "release")
    call_command("rotate_keys", *kinds, "--by", "olga", "--announce")
    call_command("rotate_keys", *kinds, "--by", "olga")
    kept = sorted(path.name for path in keys.iterdir())
    assert kept == sorted(f"{kind}-key{end}" for kind in kinds for end in ("", ".earlier"))


def test_a_key_nobody_announced_does_not_sign(keys, olga):
    old = signing.approval_public_key().public_bytes_raw()
    with pytest.raises(Problem, match="devices would not know it"):
        rotate()
    assert signing.approval_public_key().public_bytes_raw() == old


def test_what_a_leaked_key_signed_is_stopped(keys, submitted, approve, olga, clock):
    revision = approve(submitted())
    rotate("--leaked")
    assert not signing.is_trusted(revision)
    assert running.pause_if_untrusted(task=revision.task, clock=clock)


def test_a_next_key_that_lay_beside_a_leaked_one_is_not_used(keys, olga):
    announced = kept_secrets.announce(signing.APPROVAL).public_bytes_raw()
    rotate("--leaked")
    [trusted] = kept_secrets.trusted_keys(signing.APPROVAL)
    assert trusted.public_bytes_raw() != announced


def test_several_rotations_keep_all_earlier_keys_and_each_once(keys, olga):
    seen = []
    for _ in range(3):
        seen.insert(0, signing.approval_public_key().public_bytes_raw())
        rotate("--announce")
        rotate()
    trusted = [key.public_bytes_raw() for key in kept_secrets.trusted_keys(signing.APPROVAL)]
    assert trusted[0] == signing.approval_public_key().public_bytes_raw()
    assert sorted(trusted[1:]) == sorted(seen)


def test_a_crash_in_the_middle_leaves_nothing_in_doubt(keys, submitted, approve, olga):
    """The public half is kept first: whoever stops there still signs with the old key."""
    revision = approve(submitted())
    rotate("--announce")
    old = signing.approval_public_key().public_bytes_raw().hex()
    (keys / "approval-key.earlier").write_text(f"{old}\n")
    assert signing.is_trusted(revision)
    rotate()
    assert signing.is_trusted(revision)
    assert (keys / "approval-key.earlier").read_text() == f"{old}\n"


def test_only_operators_rotate_and_it_is_on_the_record(keys, olga, rafael):
    with pytest.raises(Problem, match="'rafael' is no operator"):
        call_command("rotate_keys", "worker", "--by", "rafael", "--announce")
    with pytest.raises(Problem, match="'nobody' is no operator"):
        call_command("rotate_keys", "worker", "--by", "nobody", "--announce")
    rotate("--announce")
    rotate()
    actions = Entry.objects.filter(action__startswith="key.").order_by("seq")
    assert [(e.action, e.actor) for e in actions] == [
        ("key.announced", "olga"),
        ("key.rotated", "olga"),
    ]
