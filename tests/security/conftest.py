"""A world with one thing of every kind, on a database, a Valkey and folders of its own."""

from typing import Any

import pytest

from tests.portal.releases.browsing.conftest import (
    collecting,
    few,
    first_database,
    kept,
    keys,
    parts,
    streams,
)
from tests.security.world import World, made_world

__all__ = ["collecting", "few", "first_database", "kept", "keys", "parts", "streams"]


@pytest.fixture
def world(collecting: Any, monkeypatch: Any) -> World:
    return made_world(collecting, monkeypatch)
