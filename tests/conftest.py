"""Real parts for all tests: one data folder, one Valkey, one PostgreSQL a session, where asked for.

`--size full` runs the same tests at the sizes of `make deep`. `tests/run.py` runs those marked
`databases` a second time, with TEST_DATABASE_URL naming a PostgreSQL.
"""

import gc
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import django
import pytest
from whitenoise import WhiteNoise


def _prepare_environment() -> Path:
    """Before the settings are read: tests never touch the folder of a running demo.

    Workers of a parallel run get a folder each from `pytest_xdist_setupnodes` below.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        return Path(os.environ["MAYFLY_DATA"])
    for name in [n for n in os.environ if n.startswith("MAYFLY_")]:
        del os.environ[name]
    if address := os.environ.get("TEST_DATABASE_URL"):
        os.environ["MAYFLY_DATABASE_URL"] = address
    folder = _new_folder()
    os.environ.update(
        MAYFLY_DATA=str(folder), MAYFLY_HEARTBEAT_SECONDS="0.2", MAYFLY_SCENARIO="none"
    )
    os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
    # A browser's event loop stays in its process; tests after it use the database all the same.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    return folder


def _new_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="mayfly-tests-"))


_data = _prepare_environment()
django.setup()
pytest_plugins = ["tests.parts", "tests.databases"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--size", choices=["everyday", "full"], default="everyday")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`tests/run.py` finds the files of these marks by their text."""
    for item, mark in itertools.product(items, ("solo", "databases")):
        if item.get_closest_marker(mark) and f"mark.{mark}" not in _text(item.path):
            raise pytest.UsageError(f"{item.nodeid} is marked {mark} elsewhere: mark it there.")


@cache
def _text(path: Path) -> str:
    return path.read_text()


def pytest_configure(config: pytest.Config) -> None:
    from hypothesis import HealthCheck, settings

    # The same examples every day, new ones in `make deep`: what is red was broken by the change.
    settings.register_profile("everyday", deadline=None, print_blob=True, derandomize=True)
    settings.register_profile(
        "full", deadline=None, max_examples=2000, suppress_health_check=list(HealthCheck)
    )
    settings.load_profile(config.getoption("--size"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    for spec in specs:
        spec.env["MAYFLY_DATA"] = str(_new_folder())


def pytest_collection_finish() -> None:
    """What is there now stays: to look through it for garbage, again and again, takes a seventh of
    the time of all tests."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    gc.unfreeze()
    shutil.rmtree(_data, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def static_files_once() -> Iterator[None]:
    """Every client of a test has a server of its own, which looks at each file when it starts."""
    look, found = WhiteNoise.update_files_dictionary, dict[tuple[str, str, int], dict[str, Any]]()

    def look_once(self: WhiteNoise, root: str, prefix: str) -> None:
        key = (root, prefix, os.stat(root).st_mtime_ns)
        if key not in found:
            before = dict(self.files)
            look(self, root, prefix)
            found[key] = {url: file for url, file in self.files.items() if url not in before}
        self.files.update(found[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoise, "update_files_dictionary", look_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def places_once() -> Iterator[None]:
    """The list of all places never changes; to read it takes a second."""
    from portal.streams import geography

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(geography, "_read", cache(geography._read))
        yield


@pytest.fixture(scope="session")
def size(request: pytest.FixtureRequest) -> str:
    """`everyday` or `full`: the one knob for mutants, kills, windows, devices."""
    return str(request.config.getoption("--size"))


@pytest.fixture
def same_noise(size: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests with a rate of false alarms: noise from keys that are the same every day.

    The sampler is the real one; only its keys come from the test's name. `make deep` draws afresh.
    """
    if size == "everyday":
        draw_from(request.node.nodeid, monkeypatch)


def draw_from(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise whose keys come from a name."""
    from aggregation.release import randomness

    keys = (sha256(f"{name} {n}".encode()).digest() for n in itertools.count())
    monkeypatch.setattr(randomness, "os", SimpleNamespace(urandom=lambda _: next(keys)))


@pytest.fixture
def clock() -> Any:
    from aggregation.clock import ManualClock

    return ManualClock(datetime(2026, 11, 16, 12, tzinfo=UTC))


@pytest.fixture(scope="session")
def catalog() -> Any:
    """The shipped streams over 12 regions of 3 countries."""
    from aggregation.protocol.shipped import shipped_catalog

    regions = [str(geonameid) for geonameid in range(1001, 1013)]
    return shipped_catalog(regions=regions, countries=["DE", "FR", "US"])


@pytest.fixture
def person(db: None) -> Callable[..., Any]:
    """Make people: `person("analyst", username="ada")`."""
    from portal.accounts.models import Grant, Person

    def make(*roles: str, username: str = "") -> Person:
        name = username or f"{'-'.join(roles) or 'nobody'}-{Person.objects.count() + 1}"
        made = Person.objects.create_user(
            name, email=f"{name}@example.org", password="correct horse battery"
        )
        for role in roles:
            Grant.objects.create(person=made, role=role)
        return made

    return make


@pytest.fixture
def signed_in(person: Callable[..., Any]) -> Callable[..., Any]:
    """A browser-like client, signed in as someone new with these roles, or as a given person."""
    from django.test import Client

    def make(*roles: str, who: Any = None) -> Client:
        client = Client()
        client.force_login(who or person(*roles))
        return client

    return make


@pytest.fixture(scope="session", autouse=True)
def _quick_settings() -> None:
    """Pages name static files by their hash: collect them once a worker, uncompressed."""
    from django.conf import settings
    from django.core.management import call_command

    # The real hash takes a third of a second by design; the tests sign in hundreds of times.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.STORAGES["staticfiles"]["BACKEND"] = (
        "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    )
    call_command("collectstatic", interactive=False, verbosity=0)
