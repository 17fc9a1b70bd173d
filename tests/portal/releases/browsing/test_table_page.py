"""The table of a release: it begins with rows that are shown, and a switch leads to all."""

import re

from portal.releases import querying
from tests.portal.releases.browsing.conftest import LYON, MARSEILLE
from tests.portal.releases.browsing.test_browsing_pages import AT, main, words

TABLE = f"{AT}/table?table=by-region"


def test_it_begins_with_what_is_shown(client, released):
    page = client.get(TABLE)
    assert "4 rows shown" in words(page)
    assert "All 5, with reasons" in words(page)
    assert "Marseille" not in words(page)
    # Exports are of the same rows.
    assert "by-region.csv?shown=1" in main(page)


def test_a_switch_leads_to_all_rows_and_keeps_what_is_chosen(client, released):
    page = main(client.get(f"{TABLE}&country=FR&sort=num_trips"))
    (address,) = set(re.findall(r'href="(\?[^"]*shown=0[^"]*)"', page))
    assert "country=FR" in address
    assert "sort=num_trips" in address
    said = words(client.get(f"{AT}/table{address.replace('&amp;', '&')}"))
    assert "Marseille" in said
    assert "Its noise alone would be more than about ± 25 % of its trips." in said


def test_rows_that_are_all_hidden_are_told_of(client, released):
    said = words(client.get(f"{TABLE}&region={MARSEILLE}"))
    assert "The one row here is not shown: the noise would drown it." in said
    assert "All rows, with reasons" in said


def test_a_page_asks_as_little_as_before(client, released, monkeypatch):
    """Rows of the page, and how many are shown; of all rows the file itself knows how many."""
    querying.remembered.cache_clear()
    asked = []

    def counted(statement, *values, **more):
        asked.append(statement)
        return ask(statement, *values, **more)

    ask = querying.ask
    monkeypatch.setattr(querying, "ask", counted)
    assert client.get(f"{AT}/table?table=cells").status_code == 200
    assert len([one for one in asked if "COUNT(*)" in one or "LIMIT" in one]) == 2


def test_the_address_of_an_export_says_what_it_leaves_out(client, released):
    page = main(client.get(f"{AT}/table?table=cells&region={LYON}&shown=0"))
    assert f"cells.csv?region={LYON}" in page
    assert "shown=1" not in re.findall(r"cells\.csv\?[^\"]*", page)[0]


def test_heads_are_plain_words_and_stand_beside_each_number_for_small_screens(client, released):
    page = main(client.get(TABLE))
    assert '<td class="num" data-label="Distance (km)">' in page
    head = re.search(r"<thead>.*?</thead>", page, re.DOTALL)[0]
    assert "Distance (km)" in head
    assert ">distance_km" not in head


def test_another_filter_keeps_all_rows(client, released):
    field = '<input type="hidden" name="shown" value="0">'
    assert field in main(client.get(f"{TABLE}&shown=0"))
    assert field not in main(client.get(TABLE))
