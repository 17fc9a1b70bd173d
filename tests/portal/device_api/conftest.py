import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.portal.device_api.front_end import FrontEnd, running_front_end


@pytest.fixture(scope="module")
def front_end(
    template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FrontEnd]:
    """One front end for the tests of a file; each publishes a snapshot of its own."""
    database = Path(shutil.copy(template_database, tmp_path_factory.mktemp("front") / "sqlite3"))
    with running_front_end(database=database) as running:
        yield running
