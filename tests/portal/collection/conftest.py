"""A task whose windows are collected, on a database, a Valkey and a key folder of its own."""

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from portal.tasks.models import Revision
from tests.databases import copied, default_is
from tests.portal.collection import collecting as module
from tests.portal.collection.collecting import Collecting, moment

BEGUN = "2026-11-18T00:00:00"
# Text of a task, and of the streams → a database in which it runs, and the keys beside it.
_begun: dict[tuple[str, str], tuple[str, Path]] = {}


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
def first_database(
    request: pytest.FixtureRequest, template_database: str, streams: None, keys: Path, clock: Any
) -> str:
    """One in which the task runs, for those who collect, with its keys: the first of them
    activates it."""
    from django.conf import settings

    if "collecting" not in request.fixturenames:
        return template_database
    same = (module.SPEC, (settings.DATA / "streams" / "catalog.json").read_text())
    if same not in _begun:
        folder = request.getfixturevalue("tmp_path_factory").mktemp("begun")
        with request.getfixturevalue("django_db_blocker").unblock():
            name = copied(template_database, folder)
            with default_is(name):
                made = Collecting(clock, nullcontext)
                made.activate()
                made.go_to(BEGUN)
        shutil.copytree(keys, folder / "keys")
        _begun[same] = name, folder / "keys"
    name, signed_with = _begun[same]
    shutil.copytree(signed_with, keys, dirs_exist_ok=True)
    return name


@pytest.fixture
def parts(own_database: Any, valkey: None, keys: Path, streams: None, settings: Any) -> Any:
    from portal.valkey import queue_client

    settings.SESSION_LAPSE_SECONDS = 2
    settings.DRAIN_SECONDS = 1
    settings.HEARTBEAT_SECONDS = 0.1
    settings.SNAPSHOT_SECONDS = 0.1
    queue_client().flushdb()
    return own_database


@pytest.fixture
def collecting(parts: Any, clock: Any) -> Iterator[Collecting]:
    """Yesterday's window is open: the task began on the 17th, and it is the 18th."""
    clock.set(moment(BEGUN))
    made = Collecting(clock, parts, Revision.objects.get())
    yield made
    made.stopping |= {"one", "two", "three"}
    made.join()
