from pathlib import Path
from typing import Any

import pytest

from portal.streams.geography import Geography, Source, most_populous_places


@pytest.fixture(scope="session")
def world(prepared_data: Path) -> Path:
    """A data folder with the real streams and all 50,000 regions; tests only read it."""
    return prepared_data


@pytest.fixture
def installed(world: Path, settings: Any) -> Path:
    """The real streams where the portal looks for them."""
    settings.DATA = world
    return world / "streams"


@pytest.fixture(scope="session")
def few() -> Geography:
    return most_populous_places(200)


@pytest.fixture(scope="session")
def few_places(few: Geography) -> Source:
    """A source that is quick to install, for tests about installing."""
    return Source.holding(few)
