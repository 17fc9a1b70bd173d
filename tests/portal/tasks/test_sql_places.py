"""Regions in a query are told by their names."""

from portal.streams.geography import Source, most_populous_places
from portal.streams.services import install_streams
from portal.tasks.sql_places import NamedPlace, places_named_in

SQL = "SELECT 1 FROM trips WHERE region IN ('1796236', '5', '1796236') OR activity = '1816670x'"


def test_places_are_named_once_in_their_order(tmp_path, settings):
    settings.DATA = tmp_path
    few = Source.holding(most_populous_places(20))
    install_streams(folder=tmp_path / "streams", source=few, tell=lambda sentence: None)
    assert places_named_in(SQL) == [NamedPlace("1796236", "Shanghai", "China")]
    assert places_named_in("SELECT 1") == []


def test_streams_without_places_name_none(catalog, tmp_path, settings):
    settings.DATA = tmp_path
    catalog.write(tmp_path / "streams")
    assert places_named_in(SQL) == []
