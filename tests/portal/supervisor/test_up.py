"""`manage.py up`: everything starts, heals, and stops; what is wrong is said in one sentence."""

import hashlib
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from tests.parts import ROOT, System, clean_environment, eventually, free_port, start_system

# The promise is 5 s; twice that here, where other tests keep the machine busy.
STOP_SECONDS = 10
CHILDREN = ["valkey", "web", "sessions", "jobs", "beat"]
MARKS = {
    "valkey": "valkey-server",
    "web": "uvicorn",
    "sessions": "-Q sessions",
    "jobs": "-Q jobs",
    "beat": "beat -S",
}


@pytest.fixture(scope="module")
def lives(tmp_path_factory, prepared_data):
    """The lives of one system, one after the other on the same data; the last is ended for good."""
    data = tmp_path_factory.mktemp("up")
    found = [start_system(data, prepared=prepared_data)]
    yield found
    found[-1].stop(signal.SIGKILL)


@pytest.fixture
def system(lives):
    """The system as the test before left it; one that was stopped is started again."""
    if lives[-1].process.poll() is not None:
        lives.append(start_system(lives[-1].data))
    eventually(lives[-1].is_ready, within=90, log=lives[-1].log)
    return lives[-1]


@pytest.mark.solo
def test_two_systems_on_one_data_folder_are_refused(system):
    port = free_port()
    done = up(MAYFLY_DATA=str(system.data), MAYFLY_PORT=str(port))
    assert done.returncode == 2
    assert "Mayfly is already running on" in done.stderr
    assert str(system.process.pid) in done.stderr


@pytest.mark.solo
def test_a_socket_that_was_removed_comes_back(system):
    digest = hashlib.sha256(str(system.data).encode()).hexdigest()[:8]
    path = Path(f"/tmp/mayfly-{os.getuid()}-{digest}/valkey.sock")
    before = child_pid(system, "valkey")
    shutil.rmtree(path.parent)
    eventually(lambda: child_pid(system, "valkey") not in (None, before))
    eventually(lambda: path.exists() and system.is_ready(), within=90, log=system.log)


@pytest.mark.solo
def test_every_killed_child_comes_back_and_ctrl_c_leaves_nothing(system):
    """Not even while somebody looks on: a live page keeps an answer open until the stop."""
    for name in CHILDREN:
        before = child_pid(system, name)
        os.kill(before, signal.SIGKILL)
        eventually(lambda n=name, b=before: child_pid(system, n) not in (None, b))
    eventually(system.is_ready, within=90, log=system.log)
    stream = sign_in_as_operator(system).open(f"{system.url}/sessions/live", timeout=30)
    assert stream.readline().startswith(b"retry:")
    pids = [child_pid(system, name) for name in CHILDREN]
    # A crash would leave no file with what it had in memory.
    assert {resource.prlimit(pid, resource.RLIMIT_CORE) for pid in pids} == {(0, 0)}
    began = time.monotonic()
    system.stop(signal.SIGINT)
    assert time.monotonic() - began < STOP_SECONDS
    assert not [pid for pid in pids if is_alive(pid)]
    assert not processes(system)
    log = system.log.read_text()
    assert "was killed by SIGKILL; starting it again" in log
    assert "Traceback" not in log
    assert "graceful" not in log


@pytest.mark.solo
def test_an_orphaned_valkey_on_the_socket_is_replaced(system, lives):
    orphan = child_pid(system, "valkey")
    os.kill(orphan, signal.SIGSTOP)  # it cannot follow its supervisor now
    system.stop(signal.SIGKILL)
    os.kill(orphan, signal.SIGCONT)
    lives.append(start_system(system.data))
    eventually(lives[-1].is_ready, within=90, log=system.log)
    assert not is_alive(orphan)


@pytest.mark.solo
def test_a_killed_supervisor_takes_its_children_along_and_a_start_after_it_works(system, lives):
    system.stop(signal.SIGKILL)
    eventually(lambda: has_none_left(system))
    # The socket of the killed Valkey may still be there: a stale one is taken away.
    lives.append(start_system(system.data, MAYFLY_PORT=str(system.port)))
    eventually(lives[-1].is_ready, within=90, log=system.log)


def test_ctrl_c_while_it_prepares_is_quick_and_quiet(tmp_path):
    system = start_system(tmp_path)
    eventually(lambda: "streams" in system.log.read_text(), log=system.log)
    system.process.send_signal(signal.SIGINT)
    assert system.process.wait(timeout=15) == 130
    log = system.log.read_text()
    assert "stopped before everything was up" in log
    assert "Traceback" not in log


def test_a_taken_port_is_named_with_the_remedy(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = up(MAYFLY_DATA=str(tmp_path), MAYFLY_PORT=str(port))
    assert done.returncode == 2
    assert one_sentence_of(done) == (
        f"mayfly: Mayfly cannot listen on 127.0.0.1:{port} (Address already in use). "
        f"Stop what runs there, or set another MAYFLY_PORT: make run PORT={port + 1}."
    )


def test_an_address_of_another_machine_is_named(tmp_path):
    done = up(MAYFLY_DATA=str(tmp_path), MAYFLY_BIND="192.0.2.1")
    assert done.returncode == 2
    assert "MAYFLY_BIND is '192.0.2.1', which is no address of" in one_sentence_of(done)


def test_a_data_folder_that_cannot_be_written_is_named():
    done = up(MAYFLY_DATA="/dev/null/mayfly")
    assert done.returncode == 2
    assert "The folder /dev/null/mayfly (MAYFLY_DATA) cannot be written to." in one_sentence_of(
        done
    )


def test_a_socket_folder_of_someone_else_is_refused(tmp_path):
    from aggregation.errors import Problem
    from portal.supervisor.valkey import prepare_run_dir

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Problem, match="belongs to someone else"):
        prepare_run_dir(tmp_path / "run")


def test_a_missing_package_is_named_with_the_remedy(tmp_path):
    bare = [sys._base_executable, "-S", "manage.py", "up"]
    done = subprocess.run(bare, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert re.search(
        r"The package '\w+' is missing from .* Run `make setup`", one_sentence_of(done)
    )


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ('case "$*" in *ensurepip*) exit 1;; esac; exit 0', "lacks the venv module"),
        ("exit 0", ""),
    ],
)
def test_make_says_when_python_lacks_the_venv_module(tmp_path, script, sentence):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    done = make("setup", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert sentence in done.stderr


def test_make_says_when_there_is_no_python(tmp_path):
    done = make("setup", "PYTHON=", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "No Python 3.11, 3.12 or 3.13 was found." in done.stderr


def up(**settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "up"],
        cwd=ROOT, env={**clean_environment(), **settings},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def one_sentence_of(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def child_pid(system: System, name: str) -> int | None:
    return next((p for p, command in processes(system).items() if MARKS[name] in command), None)


def processes(system: System) -> dict[int, str]:
    """Every living process of this system: by its environment, or Valkey by its socket."""
    mark = f"MAYFLY_DATA={system.data}\0".encode()
    digest = hashlib.sha256(str(system.data).encode()).hexdigest()[:8]
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            ours = mark in (folder / "environ").read_bytes() + b"\0" or digest in command
            if ours and command and pid != system.process.pid:
                found[pid] = command
        except OSError:
            continue
    return found


def has_none_left(system: System) -> bool:
    """Else it says which."""
    left = processes(system)
    assert not left, left
    return True


def is_alive(pid: int) -> bool:
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text().split("\n")[2]
    except OSError:
        return False


def sign_in_as_operator(system):
    """An opener with the cookies of the demo's operator."""
    cookies = urllib.request.HTTPCookieProcessor(CookieJar())
    opener = urllib.request.build_opener(cookies)
    form = opener.open(f"{system.url}/login", timeout=30).read().decode()
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', form)
    fields = {"csrfmiddlewaretoken": token[1], "username": "operator", "password": "operator"}
    opener.open(f"{system.url}/login", urllib.parse.urlencode(fields).encode(), timeout=30)
    return opener
