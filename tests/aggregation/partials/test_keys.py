"""The key folder: one key per name whoever asks first, for us alone, and gone when erased."""

import os
import pickle
import stat
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from aggregation.errors import Problem
from aggregation.partials.keys import KeyFolder, KeyName
from tests.parts import ROOT

DAY = date(2026, 11, 16)
NAME = KeyName("weekly-trips", "2026-11-09", 1, DAY)


@pytest.fixture
def folder(tmp_path: Path) -> KeyFolder:
    return KeyFolder(tmp_path / "keys" / "partials")


def files(folder: KeyFolder) -> list[str]:
    return sorted(os.listdir(folder._path))


def test_it_works(folder: KeyFolder) -> None:
    key = folder.for_sealing(NAME)
    assert len(key.secret) == 32
    assert folder.for_sealing(NAME) == folder.for_opening(NAME) == key
    assert folder.names() == (NAME,)
    assert files(folder) == ["weekly-trips.2026-11-09.1.2026-11-16"]


def test_every_name_has_a_key_of_its_own(folder: KeyFolder) -> None:
    names = [
        NAME,
        KeyName("other-trips", "2026-11-09", 1, DAY),
        KeyName("weekly-trips", "2026-11-16", 1, DAY),
        KeyName("weekly-trips", "2026-11-09T14", 1, DAY),
        KeyName("weekly-trips", "2026-11-09", 2, DAY),
        KeyName("weekly-trips", "2026-11-09", 1, date(2026, 11, 17)),
    ]
    keys = [folder.for_sealing(name) for name in names]
    assert len({key.secret for key in keys}) == len({key.id for key in keys}) == len(names)
    assert folder.names() == tuple(sorted(names))


def test_files_and_folder_are_for_us_alone(folder: KeyFolder) -> None:
    before = os.umask(0)
    try:
        open_ = KeyFolder(folder._path / "more")
        open_.for_sealing(NAME)
    finally:
        os.umask(before)
    for path, mode in ((open_._path, 0o700), (open_._path / NAME.file, 0o600)):
        assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o701])
def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(Problem, match=r"can be read by others.*chmod 700"):
        KeyFolder(tmp_path)


def test_an_erased_key_says_so_and_a_new_one_differs(folder: KeyFolder) -> None:
    old = folder.for_sealing(NAME)
    assert folder.erase(NAME)
    assert files(folder) == []
    with pytest.raises(Problem, match="has been erased, and with it everything that it sealed"):
        folder.for_opening(NAME)
    assert not folder.erase(NAME)
    assert folder.for_sealing(NAME).secret != old.secret


def test_reading_never_makes_a_key(folder: KeyFolder) -> None:
    with pytest.raises(Problem):
        folder.for_opening(NAME)
    assert folder.names() == ()


def test_one_key_is_erased_and_its_likes_are_kept(folder: KeyFolder) -> None:
    kept = [
        KeyName("weekly-trips", "2026-11-09", 2, DAY),
        KeyName("weekly-trips", "2026-11-09", 10, DAY),
        KeyName("weekly-trips", "2026-11-09", 1, date(2026, 11, 17)),
        KeyName("weekly-trips", "2026-11-16", 1, DAY),
        KeyName("weekly-trips", "2026-11-09T14", 1, DAY),
        KeyName("weekly-trips-2", "2026-11-09", 1, DAY),
        KeyName("ly-trips", "2026-11-09", 1, DAY),
    ]
    for name in (NAME, *kept):
        folder.for_sealing(name)
    folder.erase(NAME)
    assert folder.names() == tuple(sorted(kept))


def test_erasing_takes_what_a_killed_process_left_behind(folder: KeyFolder) -> None:
    """Its own file is a second link to the key: the key would live on in it."""
    folder.for_sealing(NAME)
    other = KeyName("weekly-trips", "2026-11-09", 2, DAY)
    folder.for_sealing(other)
    for name in (NAME, other):
        os.link(folder._path / name.file, folder._path / f"{name.file}.0123456789abcdef.new")
    assert folder.names() == (NAME, other)
    folder.erase(NAME)
    assert not [file for file in files(folder) if file.startswith(NAME.file)]
    assert folder.erase(other)
    assert files(folder) == []


def test_making_and_erasing_are_on_the_disk_when_they_return(
    folder: KeyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, list[str]]] = []
    fsync = os.fsync

    def noting(descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        synced.append((kind, files(folder)))
        fsync(descriptor)

    monkeypatch.setattr("os.fsync", noting)
    folder.for_sealing(NAME)
    assert [kind for kind, _ in synced] == ["file", "folder"]
    assert synced[-1] == ("folder", [NAME.file])
    folder.erase(NAME)
    assert synced[-1] == ("folder", [])


ASK = """
import sys
from datetime import date
from pathlib import Path
from aggregation.partials.keys import KeyFolder, KeyName
folder = KeyFolder(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
days = [date(2026, 11, n) for n in range(1, 29)]
print([folder.for_sealing(KeyName("t", "2026-11-09", 1, day)).secret.hex() for day in days])
"""


def test_of_several_processes_the_first_wins(folder: KeyFolder) -> None:
    """Each asks for the same 28 new keys at once; all of them must hold the same ones."""
    command = [sys.executable, "-c", ASK, str(folder._path)]
    asking = [subprocess.Popen(command, cwd=ROOT, stdin=-1, stdout=-1, text=True) for _ in range(4)]
    for process in asking:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in asking:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = {process.communicate(timeout=60)[0] for process in asking}
    assert len(answers) == 1
    assert len(folder.names()) == len(files(folder)) == 28


def test_a_key_made_while_another_process_erases_is_made_again(
    folder: KeyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, erasures = os.link, []

    def erased_before(source: Path, target: Path) -> None:
        if len(erasures) < 3:
            erasures.append(folder.erase(NAME))
        link(source, target)

    monkeypatch.setattr("os.link", erased_before)
    assert folder.for_sealing(NAME) == folder.for_opening(NAME)
    assert len(erasures) == 3
    assert files(folder) == [NAME.file]


def test_it_gives_up_on_a_key_that_is_always_erased(
    folder: KeyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def erased_after(source: Path, target: Path) -> None:
        link(source, target)
        folder.erase(NAME)

    monkeypatch.setattr("os.link", erased_after)
    with pytest.raises(Problem, match="is erased every time it is made"):
        folder.for_sealing(NAME)
    assert files(folder) == []


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_file_is_no_key(folder: KeyFolder, content: bytes) -> None:
    (folder._path / NAME.file).write_bytes(content)
    for ask in (folder.for_sealing, folder.for_opening):
        with pytest.raises(Problem, match=f"is damaged: it has {len(content)} bytes"):
            ask(NAME)


@pytest.mark.parametrize(
    ("task", "window", "level"),
    [
        ("../approval-key", "2026-11-09", 1),
        ("a/b", "2026-11-09", 1),
        ("", "2026-11-09", 1),
        ("Trips", "2026-11-09", 1),
        ("weekly.trips", "2026-11-09", 1),
        ("weekly-trips", "../2026", 1),
        ("weekly-trips", "2026-11-09.1", 1),
        ("weekly-trips", "", 1),
        ("weekly-trips", "2026-11-09", 0),
        ("weekly-trips", "2026-11-09\n", 1),
    ],
)
def test_no_key_has_a_name_that_leads_elsewhere(task: str, window: str, level: int) -> None:
    with pytest.raises(Problem, match="No key is called"):
        KeyName(task, window, level, DAY)


def test_other_files_are_not_listed_and_stay(folder: KeyFolder) -> None:
    (folder._path / "README").write_text("keys")
    folder.for_sealing(NAME)
    assert folder.names() == (NAME,)
    folder.erase(NAME)
    assert files(folder) == ["README"]


def test_a_key_is_neither_printed_nor_pickled(folder: KeyFolder) -> None:
    key = folder.for_sealing(NAME)
    for shown in (repr(key), str(key), repr(folder)):
        assert key.secret.hex() not in shown
        assert repr(key.secret) not in shown
    assert key.secret not in key.id
    with pytest.raises(TypeError, match="not copied or pickled"):
        pickle.dumps(key)
