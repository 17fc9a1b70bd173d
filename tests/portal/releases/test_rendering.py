"""The files of a release: made of the committed row, once, whoever comes how often."""

import shutil
import threading

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from aggregation.errors import Problem
from aggregation.release import publish
from aggregation.release.noised import Noised
from portal.releases import failpoints, rendering, running
from portal.releases.models import Release, Rendering
from portal.releases.selectors import whole_release
from portal.releases.verification import checks_of
from tests.portal.releases.test_not_releasing import write_another_config
from tests.portal.releases.test_releasing import DUE, FIRST, fail_at

pytestmark = pytest.mark.databases


@pytest.fixture
def released(collecting):
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    return Release.objects.get()


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_it_works(released, capsys):
    running.render_releases()
    folder = rendering.folder_of(released)
    names = {"cells.parquet", "total.parquet", "manifest.json", "manifest.sig", "card.json"}
    assert set(contents(folder)) == names
    assert pq.read_table(folder / "cells.parquet").num_rows == 12
    assert Rendering.objects.get().release == released
    call_command("verify_release", "trips-by-region", FIRST)
    assert "All 7 checks hold." in capsys.readouterr().out


def test_doing_it_again_changes_nothing(released):
    running.render_releases()
    before = contents(rendering.folder_of(released))
    running.render_releases()
    rendering.render(release=whole_release(released.pk))
    assert contents(rendering.folder_of(released)) == before
    assert not list(rendering.folder_of(released).parent.glob("*.new"))


def test_lost_files_come_back_as_they_were(released):
    running.render_releases()
    folder = rendering.folder_of(released)
    before = contents(folder)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    running.restore_files()
    assert contents(folder) == before


def test_five_at_once_sign_one_manifest(released, parts):
    together = threading.Barrier(5)
    pk = released.pk

    def job() -> None:
        with parts():
            together.wait(timeout=60)
            rendering.render(release=whole_release(pk))

    threads = [threading.Thread(target=job) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert Rendering.objects.count() == 1
    assert all(check.holds for check in checks_of(whole_release(pk)))


@pytest.mark.parametrize("place", ["written", "signed"])
def test_an_attempt_that_fails_is_made_good(released, monkeypatch, place):
    monkeypatch.setattr(failpoints, "hook", fail_at(place))
    running.render_releases()
    assert not rendering.folder_of(released).exists()
    monkeypatch.setattr(failpoints, "hook", None)
    running.render_releases()
    running.restore_files()
    assert all(check.holds for check in checks_of(whole_release(released.pk)))


def test_one_window_s_trouble_is_not_the_others(collecting, monkeypatch, caplog):
    collecting.go_to("2026-11-21T00:00:00")
    running.release_due_windows(clock=collecting.clock)
    first, second = Release.objects.order_by("pk")
    tamper(first, "signature = '00'")
    running.render_releases()
    assert not hasattr(whole_release(first.pk), "rendering")
    assert hasattr(whole_release(second.pk), "rendering")
    assert "could not be made" in caplog.text


def test_what_keeps_failing_is_tried_less_often(released, settings, caplog):
    """It may take a minute each time, and others wait for it: a key that is lost stays lost."""
    settings.HEARTBEAT_SECONDS = 60
    tamper(released, "signature = '00'")
    for _ in range(5):
        running.render_releases()
    # Again at once, since most trouble is over by then; then after a pause that grows.
    assert caplog.text.count("could not be made") == 2
    settings.HEARTBEAT_SECONDS = 0
    running.render_releases()
    assert caplog.text.count("could not be made") == 3


def test_numbers_that_were_changed_behind_our_back_are_not_rendered(released):
    other = bytes(released.noised)
    other = other[:-1] + bytes([other[-1] ^ 1])
    tamper(released, "noised = %s", other)
    with pytest.raises(Problem, match="damaged"):
        rendering.render(release=whole_release(released.pk))
    with pytest.raises(CommandError, match="checks failed"):
        call_command("verify_release", "trips-by-region", FIRST)


def test_numbers_that_are_whole_but_not_those_of_the_card_are_not_rendered(released):
    sums = Noised.decode(bytes(released.noised)).sums
    tamper(released, "noised = %s", Noised(sums + 1).encode())
    with pytest.raises(Problem, match="not made of what its card names"):
        rendering.render(release=whole_release(released.pk))


def test_numbers_are_not_rendered_by_another_config_than_the_card_names(released):
    """Its ε would make intervals of another width."""
    write_another_config(released.window.revision)
    with pytest.raises(Problem, match="not made of what its card names"):
        rendering.render(release=whole_release(released.pk))
    assert not Rendering.objects.exists()


def test_files_that_come_out_otherwise_than_they_were_signed_for_are_not_put_there(
    released, monkeypatch
):
    running.render_releases()
    folder = rendering.folder_of(released)
    shutil.rmtree(folder)
    monkeypatch.setattr(publish, "meaning", lambda _: "What another version would say.")
    with pytest.raises(Problem, match="come out different"):
        rendering.render(release=whole_release(released.pk))
    assert not folder.exists()


def test_a_changed_file_is_found_and_made_again(released, capsys):
    from portal.releases.files import is_intact, table_files

    running.render_releases()
    path = rendering.folder_of(released) / "total.parquet"
    right = path.read_bytes()
    path.write_bytes(right[:-1] + b"!")
    with pytest.raises(CommandError, match="1 of 7 checks failed"):
        call_command("verify_release", "trips-by-region", FIRST)
    total, *_ = table_files(whole_release(released.pk))
    assert (total.path, is_intact(total)) == (path, False)
    running.restore_files()
    assert path.read_bytes() == right


def tamper(release, change, *values):
    """As somebody would who may do anything to the database, but has no key."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute('DROP TRIGGER "releases_release_no_update"')
        else:
            cursor.execute("ALTER TABLE releases_release DISABLE TRIGGER USER")
        cursor.execute(f"UPDATE releases_release SET {change} WHERE id = %s", [*values, release.pk])
