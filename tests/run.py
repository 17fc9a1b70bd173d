"""Every test, in three lanes beside each other: some compute, others wait half of the time.

Those that compute are on SQLite and again on PostgreSQL; those that wait are in browsers or have
processes of their own.

python -m tests.run [--size everyday|full] [--only parallel,browser,…] [pytest arguments]
"""

import argparse
import atexit
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from resource import struct_rusage
from threading import Thread

NO_TESTS = 5
# A file system in memory, and how much of it has to be free for the files of tests.
MEMORY, ENOUGH = Path("/dev/shm"), 8 << 30
# What is said in the first is heard at once. No lane is much longer than the others.
LANES = (("parallel",), ("long",), ("solo", "browser", "postgresql"))
COMPUTING = ("parallel", "postgresql")
PARALLEL = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"]
# With the longest files: whoever begins one last would be waited for.
FIRST = ("tests/security", "tests/privacy")
# Half of the time of all tests with processes of their own. Machines first, while no browser runs:
# it gives up what it is loading when a network comes or goes.
LONG = ["tests/machines", "tests/faults", "tests/devices_sim/simulation"]
# One system for both workers, and tests of very different length.
STEALING = ["-n", "2", "--dist", "worksteal"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=["everyday", "full"], default="everyday")
    parser.add_argument("--only", default="parallel,browser,postgresql,solo,long")
    arguments, rest = parser.parse_known_args()
    common = ["--size", arguments.size, "-q", *rest]
    named = any(Path(one.partition("::")[0]).exists() for one in rest)
    calls = {
        "parallel": [*PARALLEL, "-m", "not solo", *common, *([] if named else all_but("browser"))],
        # Apart: a browser's event loop stays in its process and gets in the way of async views.
        "browser": [*STEALING, "-m", "not solo", *common, "tests/browser"],
        "postgresql": [*PARALLEL, "-m", "databases and not solo", *common, *marked("databases")],
        "solo": ["-m", "solo", *common, *marked("solo", but=LONG)],
        "long": ["-m", "solo", *common, *LONG],
    }
    chosen = arguments.only.split(",")
    codes: dict[str, int] = {}
    complaints: list[str] = []

    def run(lane: Sequence[str], *, aloud: bool) -> None:
        for name in [name for name in lane if name in chosen]:
            with postgresql() if name == "postgresql" else nullcontext({}) as variables:
                patient = name in COMPUTING
                codes[name], said = pytest(calls[name], variables, aloud=aloud, patient=patient)
                complaints.extend(said)

    first, *others = LANES
    keep_files_in_memory()
    # Else every process that a test starts would compile what has been changed, again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with prepared_once():
        beside = [Thread(target=run, args=[lane], kwargs={"aloud": False}) for lane in others]
        for thread in beside:
            thread.start()
            if arguments.size == "full":  # large enough to be in each other's way
                thread.join()
        run(first, aloud=True)
        for thread in beside:
            thread.join()
    print(*complaints, sep="\n", end="\n" if complaints else "")
    failed = [name for name in chosen if codes.get(name) not in (0, NO_TESTS)]
    print("tests:", f"failed in {', '.join(failed)}" if failed else "all passed", flush=True)
    return 1 if failed or all(code == NO_TESTS for code in codes.values()) else 0


def all_but(folder: str) -> list[str]:
    """Folders with tests, in the order in which they are to begin."""
    found = {"/".join(file.parts[:2]) for file in Path("tests").rglob("test_*.py")}
    return sorted(found - {f"tests/{folder}"}, key=lambda one: (one not in FIRST, one))


def marked(mark: str, *, but: Sequence[str] = ()) -> list[str]:
    """Files with tests that are marked so: to import all others takes ten seconds in each process.
    That every such test is marked in its own file, `conftest.py` sees to."""
    files = sorted(str(path) for path in Path("tests").rglob("test_*.py"))
    return [
        file
        for file in files
        if not file.startswith(tuple(but)) and f"mark.{mark}" in Path(file).read_text()
    ]


def pytest(
    arguments: list[str], variables: dict[str, str], *, aloud: bool, patient: bool = False
) -> tuple[int, list[str]]:
    """Its exit code, and its line for each test that failed: the last thing to be said, where
    nobody has to look for it. What a quiet one says is shown when it has ended. A patient one lets
    those go first whose wait is over."""
    words = f"pytest {' '.join(arguments)}"
    print(f"tests: {words}", flush=True)
    began = time.monotonic()
    first = ["nice", "-n", "5"] if patient else []
    # More processes than processors: threads of theirs that wait for work would keep others off.
    alone = {"OPENBLAS_NUM_THREADS": "1"}
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(
            [*first, sys.executable, "-m", "pytest", *arguments],
            env={**os.environ, **alone, **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        said, status, used = waited(process.pid, output.fileno(), aloud=aloud)
        process.returncode = os.waitstatus_to_exitcode(status)
    lines = said.decode(errors="replace").splitlines()
    if not aloud:
        print(*lines, sep="\n")
    spent = f"{time.monotonic() - began:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processors"
    print(f"tests: {words}: {spent}", flush=True)
    return process.returncode, [x[:300] for x in lines if x.startswith(("FAILED ", "ERROR "))]


def waited(pid: int, output: int, *, aloud: bool) -> tuple[bytes, int, struct_rusage]:
    """All that a process has said when it has ended, its status, and what it has used. Processes
    that it leaves behind may hold its output open: a file, unlike a pipe, need not end."""
    said, ended = b"", 0
    while not ended:
        time.sleep(0.1)
        ended, status, used = os.wait4(pid, os.WNOHANG)
        piece = os.pread(output, os.fstat(output).st_size - len(said), len(said))
        said += piece
        if aloud:
            os.write(1, piece)
    return said, status, used


def keep_files_in_memory() -> None:
    """Hundreds of databases are copied, and thrown away: on no disk, where there is the memory."""
    is_large = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH
    folder = tempfile.mkdtemp(prefix="mt-", dir=MEMORY if is_large else None)
    Path(folder).chmod(0o711)  # PostgreSQL runs as somebody else where we are root
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    # After whatever others do at the end.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


@contextmanager
def prepared_once() -> Iterator[None]:
    """One place for the data folder that whole systems are copied from (tests/parts.py)."""
    with tempfile.TemporaryDirectory(prefix="mayfly-prepared-") as folder:
        os.environ["TEST_PREPARED_DATA"] = f"{folder}/data"
        yield


@contextmanager
def postgresql() -> Iterator[dict[str, str]]:
    """The address of a real PostgreSQL from a wheel, which is thrown away afterwards."""
    from tests.pgserver import pgserver

    # It would tell of every command, after the streams that it tells it to are closed.
    logging.getLogger(pgserver().__name__).setLevel(logging.WARNING)
    folder = Path(tempfile.mkdtemp(prefix="mayfly-pg-"))
    server = pgserver().get_server(folder / "data", cleanup_mode="stop")
    # Tests kill processes, never the machine: nothing here need outlive a loss of power.
    for setting in ("fsync", "full_page_writes"):
        server.psql(f"ALTER SYSTEM SET {setting} = off;")
    server.psql("SELECT pg_reload_conf();")
    try:
        yield {"TEST_DATABASE_URL": server.get_uri()}
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
