"""All places at once, and their order by name."""

from portal.streams.gazetteer import gazetteer, ranks_by_name

PARIS, ZURICH = "2988507", "2657896"


def test_it_works(installed):
    found = gazetteer()
    assert len(found.places) == 50_000
    paris = found.places[PARIS]
    assert (paris.name, paris.country) == ("Paris", "FR")
    assert paris.population > 2_000_000
    assert (round(paris.latitude), round(paris.longitude)) == (49, 2)
    assert found.countries["FR"] == "France"
    assert gazetteer() is found


def test_accents_do_not_change_the_order_of_names(installed):
    ranks, places = ranks_by_name(), gazetteer().places
    assert sorted(ranks.values()) == list(range(50_000))
    assert ranks[PARIS] < ranks[ZURICH]
    by_name = {place.name: value for value, place in places.items()}
    assert ranks[by_name["Örebro"]] < ranks[by_name["Oslo"]]


def test_without_places_there_is_nothing(settings, tmp_path):
    settings.DATA = tmp_path
    assert not gazetteer().places
    assert not ranks_by_name()
    (tmp_path / "streams").mkdir()
    (tmp_path / "streams" / "places.sqlite").write_bytes(b"no database")
    assert not gazetteer().places
    assert not ranks_by_name()
