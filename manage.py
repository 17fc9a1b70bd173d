#!/usr/bin/env python
"""Every command of Mayfly; `manage.py up` starts the whole system."""

import os
import sys


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    try:
        from django.core.management import execute_from_command_line

        from aggregation.errors import Problem
    except ModuleNotFoundError as missing:
        return _missing(missing)
    try:
        execute_from_command_line(sys.argv)
    except Problem as problem:
        print(f"mayfly: {problem}", file=sys.stderr)  # noqa: T201
        return 2
    except ModuleNotFoundError as missing:
        return _missing(missing)
    except PermissionError as refused:
        return _refused(refused)
    except FileNotFoundError as gone:
        return _gone(gone)
    return 0


def _missing(missing: ModuleNotFoundError) -> int:
    print(  # noqa: T201
        f"mayfly: The package {missing.name!r} is missing from {sys.executable}. "
        "Run `make setup`, then use .venv/bin/python (or `make run`).",
        file=sys.stderr,
    )
    return 2


def _refused(refused: PermissionError) -> int:
    """Mostly files of a data folder that another user, such as root, has made."""
    if refused.filename is None:
        raise refused
    print(  # noqa: T201
        f"mayfly: This user may not use {refused.filename}. "
        "Give it to this user (chown), or name another data folder with MAYFLY_DATA.",
        file=sys.stderr,
    )
    return 2


def _gone(gone: FileNotFoundError) -> int:
    from portal.kept_secrets import KeyGone

    if not isinstance(gone, KeyGone):
        raise gone
    print(f"mayfly: {gone}", file=sys.stderr)  # noqa: T201
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)  # as shells count it; nothing to say to who pressed Ctrl-C
