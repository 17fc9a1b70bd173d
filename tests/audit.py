"""Known faults of the packages that are installed: `make audit`, which needs the network.

Without an answer from the public lists nothing was checked, and that is said: silence would read
as a clean sheet.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

UNCHECKED = (
    "mayfly: The lists of known faults cannot be reached from here, so nothing was checked. "
    "Run make audit where there is a network."
)
COMMAND = (
    str(Path(sys.executable).with_name("pip-audit")),
    "--local", "--progress-spinner", "off", "--format", "json", "--timeout", "10",
)  # fmt: skip


def main() -> int:
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    return told(done.stdout)


def told(answer: str) -> int:
    """Say what came of it: 0 if all is well, 1 if something is known, 2 if nobody knows."""
    try:
        packages: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        print(UNCHECKED, file=sys.stderr)
        return 2
    checked = [one for one in packages if "version" in one]
    if not checked:  # pip-audit skips what it cannot ask about, and calls that clean
        print(UNCHECKED, file=sys.stderr)
        return 2
    lines = [_line(one, fault) for one in checked for fault in one.get("vulns", ())]
    lines += [f"{one['name']} could not be checked." for one in packages if one not in checked]
    print("\n".join([*lines, f"mayfly: {len(checked)} of {len(packages)} packages checked."]))
    return 1 if lines else 0


def _line(package: dict[str, Any], fault: dict[str, Any]) -> str:
    mended = ", ".join(fault.get("fix_versions", ())) or "no version yet"
    return f"{package['name']} {package['version']}: {fault['id']}, mended in {mended}."


if __name__ == "__main__":
    sys.exit(main())
