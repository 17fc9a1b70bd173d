"""Sentences on parts by other keys than activities: each says which part it is about."""

from typing import Any

import pytest

from portal.releases.browsing.headline import headline, of_places
from tests.portal.collection import collecting as module
from tests.portal.releases.browsing import conftest
from tests.portal.releases.browsing.conftest import LYON, SPEC

DIRECTIONS = ("within", "outbound", "inbound")


@pytest.fixture
def streams(streams: None, monkeypatch: Any) -> None:
    """The same task by direction instead of activity."""
    spec = SPEC.replace("activity", "direction").replace("post_processing: emissions\n", "")
    monkeypatch.setattr(module, "SPEC", spec)
    monkeypatch.setattr(conftest, "ACTIVITIES", len(DIRECTIONS))


def test_each_part_is_named(tables, earlier):
    found = [one.sentence for one in of_places(tables, earlier)]
    assert found[0].startswith("On 2026-11-18 people (direction: inbound) travelled ")
    assert all(sum(f"direction: {one})" in said for one in DIRECTIONS) == 1 for said in found)
    assert len(set(found)) == len(found) == len(DIRECTIONS)


def test_a_place_stands_before_the_part_and_is_named_once(tables, earlier):
    where = {"region": str(LYON), "direction": "within"}
    said = headline("num_trips", tables, earlier, where=where, place="Lyon").sentence
    assert said.startswith("On 2026-11-18 people in Lyon (direction: within) made ")
    assert str(LYON) not in said
    assert said.count("Lyon") == 1


def test_the_whole_has_no_part(tables, earlier):
    assert "(direction" not in headline("num_trips", tables, earlier).sentence
