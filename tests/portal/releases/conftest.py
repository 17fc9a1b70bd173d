"""Windows that are due, on a database, a Valkey, a key folder and a data folder of their own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client

from tests.portal.collection.conftest import collecting, first_database, keys, parts

__all__ = ["collecting", "first_database", "keys", "parts"]


@pytest.fixture(autouse=True)
def answers_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As by a server: an export that a test asked for and did not read leaves its place."""
    asked, answers = Client.request, []

    def request(client: Client, **given: Any) -> Any:
        answers.append(asked(client, **given))
        return answers[-1]

    monkeypatch.setattr(Client, "request", request)
    yield
    request_finished.disconnect(close_old_connections)  # the test's, as the client itself does
    for answer in answers:
        answer.close()
    request_finished.connect(close_old_connections)


@pytest.fixture
def streams(catalog: Any, settings: Any, tmp_path: Path) -> None:
    """The shipped streams over 12 regions, in a data folder of this test's own."""
    settings.DATA = tmp_path / "data"
    catalog.write(settings.DATA / "streams")
