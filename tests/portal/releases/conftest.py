"""Windows that are due, on a database, a Valkey, a key folder and a data folder of their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.portal.collection.conftest import collecting, keys, parts

__all__ = ["collecting", "keys", "parts"]


@pytest.fixture
def streams(catalog: Any, settings: Any, tmp_path: Path) -> None:
    """The shipped streams over 12 regions, in a data folder of this test's own."""
    settings.DATA = tmp_path / "data"
    catalog.write(settings.DATA / "streams")
