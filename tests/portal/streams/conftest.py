from pathlib import Path
from typing import Any

import pytest

from portal.streams.geography import Geography, Source, most_populous_places
from portal.streams.services import install_streams


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the real streams and all 50,000 regions; tests only read it."""
    data = tmp_path_factory.mktemp("world")
    install_streams(folder=data / "streams", tell=lambda sentence: None)
    return data


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
