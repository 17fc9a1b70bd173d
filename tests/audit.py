"""Known faults of the packages that are installed: `make audit`, which needs the network.

Without an answer from the public lists nothing was checked, and that is said: silence would read
as a clean sheet.
"""

import sys
from collections.abc import Iterable
from typing import Any

import requests
from pip_audit._audit import Auditor
from pip_audit._dependency_source import PipSource
from pip_audit._service import PyPIService, ServiceError

Audited = tuple[Any, list[Any]]  # a package, and what is known of it

ELSEWHERE = "Run make audit where the public one can be reached."
UNCHECKED = (
    "mayfly: The lists of known faults cannot be reached from here, so nothing was checked. "
    "Run make audit where there is a network."
)


def main() -> int:
    service = PyPIService(timeout=10)
    service.session = Pages(service.session)
    try:
        return told(list(Auditor(service).audit(PipSource(local=True))))
    except (ServiceError, requests.RequestException):
        return told([])


class Pages:
    """What pip-audit asks for: the page of a version. An index that has none may still have the
    project's page, which tells of the newest version alone: an answer for whoever has that."""

    def __init__(self, session: requests.Session) -> None:
        self._session = session

    def get(self, url: str, timeout: float) -> requests.Response:
        answer = self._session.get(url, timeout=timeout)
        if answer.status_code != requests.codes.not_found:
            return answer
        project, version, _ = url.rsplit("/", 2)
        newest = self._session.get(f"{project}/json", timeout=timeout)
        tells = newest.ok and newest.json()["info"]["version"] == version
        return newest if tells else answer


def told(audited: Iterable[Audited]) -> int:
    """Say what came of it: 0 if all is well, 1 if a fault is known, 2 if nobody knows of some."""
    packages = sorted(audited, key=lambda one: one[0].canonical_name)
    checked = [one for one in packages if not one[0].is_skipped()]
    if not checked:  # pip-audit skips what it cannot ask about, and calls that clean
        print(UNCHECKED, file=sys.stderr)
        return 2
    known = [_line(package, fault) for package, faults in checked for fault in faults]
    unknown = [one.name for one, _ in packages if one.is_skipped()]
    faults = f"{len(known)} known faults" if known else "no known fault"
    print(*known, sep="\n", end="\n" if known else "")
    print(f"mayfly: {len(checked)} of {len(packages)} packages checked, {faults}.")
    if unknown:
        print(f"mayfly: The package index tells nothing of {', '.join(unknown)}. {ELSEWHERE}")
    return 1 if known else 2 if unknown else 0


def _line(package: Any, fault: Any) -> str:
    mended = ", ".join(map(str, fault.fix_versions)) or "no version yet"
    return f"{package.name} {package.version}: {fault.id}, mended in {mended}."


if __name__ == "__main__":
    sys.exit(main())
