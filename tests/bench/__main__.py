"""Run every `bench_*.py` here, or those named: python -m tests.bench [name …] [--full]."""

import importlib
import os
import sys
import tempfile
from pathlib import Path


def main() -> int:
    wanted = [word for word in sys.argv[1:] if word != "--full"]
    found = sorted(p.stem for p in Path(__file__).parent.glob("bench_*.py"))
    unknown = [name for name in wanted if f"bench_{name}" not in found]
    if unknown:
        print(f"No such measurement: {', '.join(unknown)}. There are: {', '.join(found)}.")
        return 2
    with tempfile.TemporaryDirectory(prefix="mayfly-bench-") as folder:
        os.environ.update(MAYFLY_DATA=folder, MAYFLY_SCENARIO="none")
        os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
        import django

        django.setup()
        for name in found:
            if not wanted or name.removeprefix("bench_") in wanted:
                for figure in importlib.import_module(f"tests.bench.{name}").figures():
                    print(figure.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
