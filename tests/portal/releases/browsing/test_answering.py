"""What is asked for is answered; what is not understood is told, and takes nothing else with it."""

import html
import re

import pytest
from django.http import QueryDict

from aggregation.errors import Problem
from aggregation.protocol.anonymization import Suppression
from portal.releases import reasons
from portal.releases.browsing import choosing
from portal.releases.browsing.answering import answer
from portal.releases.browsing.choosing import View, country_of
from tests.portal.releases.browsing.conftest import LYON, MARSEILLE, PARIS
from tests.portal.releases.browsing.test_browsing_pages import AT, main, words

CYCLING = "metric=distance_km&by=region&activity=cycling&measure=person"
HTMX = {"HX-Request": "true"}


def asked(query: str, tables, earlier=None):
    return answer(QueryDict(query), tables, earlier)


def test_it_works(tables, earlier):
    found = asked(CYCLING, tables, earlier)
    assert found.problem is None
    assert found.leading.sentence
    assert found.chart.view.measure == "person"


def test_a_mistake_is_told_and_the_rest_stays_chosen(tables, client):
    found = asked(f"{CYCLING}&country=Atlantis", tables)
    view = found.chart.view
    assert (view.by, view.measure, view.where) == ("region", "person", {"activity": "cycling"})
    assert "no country 'Atlantis'" in str(found.problem)
    assert str(found.problem).endswith("The chart leaves it out.")
    for headers in ({}, HTMX):
        page = client.get(f"{AT}?{CYCLING}&country=Atlantis", headers=headers).content.decode()
        assert "Distance per inhabitant by region (cycling)" in page
        assert "no country &#x27;Atlantis&#x27;" in page


def test_several_mistakes_are_told_together(tables):
    found = asked(f"{CYCLING}&country=Atlantis&top=x", tables)
    assert "Atlantis" in str(found.problem)
    assert "1 to 50 rows" in str(found.problem)
    assert found.chart.view.measure == "person"


def test_words_that_mean_nothing_are_not_tried_one_by_one(tables, monkeypatch):
    tried = []
    parse = View.parse
    monkeypatch.setattr(View, "parse", lambda *given: tried.append(given) or parse(*given))
    many = "&".join(f"zz{number}=1" for number in range(500))
    assert asked(f"{CYCLING}&top=x&{many}", tables).chart.view.measure == "person"
    assert len(tried) < 20


def test_where_nothing_is_understood_the_first_view_is_shown(tables):
    found = asked("by=regoin", tables)
    assert str(found.problem).endswith("The default chart is shown instead.")
    assert not found.chart.is_empty


@pytest.mark.parametrize("text", ["Germany", "germany", "GERMANY ", "DE", "de", "Germ"])
def test_a_country_is_known_by_its_name_and_by_its_code(tables, text):
    found = asked(f"{CYCLING}&country={text}", tables)
    assert found.problem is None
    assert found.chart.view.where["country"] == "DE"
    assert all(label.endswith(", DE") for label in found.chart.labels)


@pytest.mark.parametrize(("text", "told"), [("Ge", "no country 'Ge'"), ("Gremany", "Did you mean")])
def test_what_names_no_country_is_told(tables, text, told):
    """Two letters are a code, and not the beginning of a name: UK would be Ukraine."""
    with pytest.raises(Problem) as raised:
        country_of(text)
    assert told in str(raised.value)


def test_of_a_text_that_is_longer_than_any_name_the_rest_is_not_read(tables, monkeypatch):
    read, fold = [], choosing.words
    monkeypatch.setattr(choosing, "words", lambda text: read.append(text) or fold(text))
    monkeypatch.setattr(choosing, "matches", lambda text, _: bool(read.append(text)))
    with pytest.raises(Problem):
        country_of("germany " * 8000)
    assert max(map(len, read)) <= 200


def test_a_country_is_chosen_from_a_list_of_names(client, released):
    page = main(client.get(f"{AT}?{CYCLING}&country=Germany"))
    (options,) = re.findall(r'<select id="held-country".*?</select>', page, re.S)
    assert '<option value="DE" selected>Germany</option>' in options
    assert "maxlength" not in page


def test_a_place_that_is_chosen_is_the_one_row(tables, earlier):
    found = asked(f"{CYCLING}&region=Lyon", tables, earlier)
    assert found.chart.values == (str(LYON),)
    assert found.leading.sentence.startswith("Lyon, FR: ")
    assert "the day before" in found.leading.change
    assert "region" not in QueryDict(found.all_query)
    assert QueryDict(found.all_query)["by"] == "region"


def test_so_is_an_activity(tables, client):
    found = asked("metric=distance_km&by=activity&activity=cycling&measure=share", tables)
    assert found.chart.values == ("cycling",)
    # Of all activities, and not of itself.
    assert found.chart.lines[0][0].number.value == pytest.approx(100 * 3 / 45, rel=0.02)
    page = main(client.get(f"{AT}?by=activity&activity=cycling"))
    assert '#browse">Every activity</a>' in page
    split = asked("by=region&second=activity&activity=cycling&measure=amount", tables).chart
    assert (split.view.second, len(split.series)) == ("", 1)


def test_a_place_without_a_number_says_so(tables, client):
    found = asked(f"metric=distance_km&by=region&region={MARSEILLE}", tables)
    assert found.chart.is_empty
    assert found.chart.lines[0][0].suppressed
    assert found.chart.coverage.startswith("Marseille, FR has no number here, as the noise")
    share = asked(f"{CYCLING[: CYCLING.rindex('&')]}&region={MARSEILLE}&measure=share", tables)
    assert share.chart.coverage.startswith("Marseille, FR has no number here, as ")


def test_an_unknown_place_is_told_also_where_places_are_ranked(client, released):
    page = words(client.get(f"{AT}?{CYCLING}&region=Xyzzy"))
    assert "No place is called &#x27;Xyzzy&#x27;." in page
    assert "comes first with" in page


def test_a_place_and_by_country_do_not_go_together(tables):
    found = asked("by=country&region=Lyon", tables)
    assert "A place lies in one country" in str(found.problem)
    assert found.chart.view.by == "country"


def test_the_table_has_the_rows_of_the_chart(tables, client):
    """Also where nothing was asked for, so that nothing is kept."""
    found = asked(f"{CYCLING}&top=2", tables)
    assert found.table_query == "table=cells&activity=cycling&sort=-distance_km"
    assert "table=by-activity" in asked("", tables).table_query
    page = main(client.get(f"{AT}?{CYCLING}&top=2"))
    (link,) = re.findall(r'href="([^"]+)">the table</a> has all, as amounts\.', page)
    assert html.unescape(link) == f"{AT}/table?{found.table_query}"


def test_links_to_other_choices_keep_the_chart_in_view(client, released):
    page = main(client.get(f"{AT}?{CYCLING}"))
    (link,) = re.findall(r'href="([^"]+)">Rank by the share', page)
    assert link.endswith("#browse")
    assert 'id="browse"' in page


def test_the_answer_stands_before_all_other_words(client, released):
    page = main(client.get(f"{AT}?{CYCLING}"))
    places = [page.index(one) for one in ('id="chart-title"', "comes first with", "notice-warning")]
    assert places == sorted(places)
    assert page.index("<svg", places[1]) < page.index("All together")


def test_over_time_there_are_amounts_and_that_is_said(client, released):
    for measure, told in {
        "person": "over time , as amounts and not per inhabitant",
        "share": "over time , as amounts and not as a share",
        "amount": "over time",
    }.items():
        page = words(client.get(f"{AT}?{CYCLING.replace('person', measure)}"))
        assert told in page
        assert ("as amounts and not" in page) is (measure != "amount")


def test_a_chart_says_which_numbers_it_shows_and_how_wide_they_are(tables, client):
    told = asked(CYCLING, tables).rule
    assert told == (
        "A number is shown where its noise is on average at most 10 % of its trips and distance "
        "each, which at 95 % is ± 25 to 30 %; the ± here is that of the noise."
    )
    assert told in words(client.get(f"{AT}?{CYCLING}"))
    assert "of its emissions, which" in asked("metric=co2e_kg", tables).rule
    share = asked(CYCLING.replace("person", "share"), tables).rule
    assert share.endswith("the ± of a share follows from those of its part and of its whole.")


def test_a_rule_on_one_metric_names_that():
    rule = Suppression(max_relative_noise=0.1, metrics="num_trips")
    told = reasons.beside(rule, ["num_trips", "distance_km"], reach="so it is")
    assert "at most 10 % of its trips, which at 95 %" in told


def test_few_choices_are_at_hand_and_the_others_behind_a_word(client, released):
    plain = main(client.get(f"{AT}?{CYCLING}"))
    before, _, further = plain.partition("<summary>More choices</summary>")
    for name in ("metric", "by", "activity", "measure"):
        assert f'name="{name}"' in before, name
    for name in ("country", "region", "second", "layout", "sort", "top", "log"):
        assert f'name="{name}"' not in before, name
        assert f'name="{name}"' in further, name
    assert '<details class="further">' in plain
    assert "Count as" in before
    for more in ("country=FR", f"region={PARIS}", "top=5", "log=1"):
        assert '<details class="further" open>' in main(client.get(f"{AT}?{CYCLING}&{more}")), more
