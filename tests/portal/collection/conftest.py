"""A task whose windows are collected, on a database, a Valkey and a key folder of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.portal.collection.collecting import Collecting


@pytest.fixture
def keys(settings: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o700)
    settings.KEYS_DIR = folder
    return folder


@pytest.fixture
def streams(catalog: Any) -> None:
    """The shipped streams over 12 regions, where the portal looks for them."""
    from django.conf import settings

    catalog.write(settings.DATA / "streams")


@pytest.fixture
def parts(own_database: Any, valkey: None, keys: Path, streams: None, settings: Any) -> Any:
    from portal.valkey import queue_client

    settings.SESSION_LAPSE_SECONDS = 2
    settings.DRAIN_SECONDS = 1
    settings.SNAPSHOT_SECONDS = 0.1
    queue_client().flushdb()
    return own_database


@pytest.fixture
def collecting(parts: Any, clock: Any) -> Iterator[Collecting]:
    """Yesterday's window is open: the task began on the 17th, and it is the 18th."""
    made = Collecting(clock, parts)
    made.activate()
    made.go_to("2026-11-18T00:00:00")
    yield made
    made.stopping |= {"one", "two", "three"}
    made.join()
