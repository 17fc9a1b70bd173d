"""A database that has forgotten what is remembered beside it."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from portal.audit import witness
from portal.audit.services import record


@pytest.fixture
def forget(db: None, settings: Any, tmp_path: Path, person: Any, clock: Any) -> Callable[[], None]:
    """Something happens and is remembered, and the database goes back to before it."""
    settings.KEYS_DIR = tmp_path / "keys"
    settings.KEYS_DIR.mkdir(mode=0o700)

    class Lost(Exception):
        pass

    def do() -> None:
        with suppress(Lost), transaction.atomic():
            record(action="test.happened", subject=person(), clock=clock)
            witness.remember()
            raise Lost

    return do
