"""Which row comes first and how sure that is; and that a change may be one of who takes part."""

import re
from dataclasses import replace

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client

from portal.collection.models import Reach
from portal.releases.browsing.answering import answer
from portal.releases.browsing.change import Change
from portal.releases.browsing.leading import leading, may_be_chance
from portal.releases.browsing.taking_part import FOR_OTHERS, TOO_FEW, WHO
from portal.releases.reading import Number
from portal.releases.templatetags.release_words import unbroken
from portal.tasks.models import TaskWindow
from tests.portal.collection.collecting import someone
from tests.portal.releases.browsing.conftest import FIRST, MUNICH, PLACES, SECOND
from tests.portal.releases.browsing.test_browsing_pages import AT, TASK, times_told, words

CYCLING = f"{AT}?metric=distance_km&by=region&activity=cycling"


def test_the_first_and_the_next_are_told_with_their_difference(client, released):
    said = words(client.get(f"{CYCLING}&measure=person"))
    assert "comes first with" in said
    assert "km per 1,000 inhabitants, then" in said
    told = r"The difference between the two, [\d.,]+ ± [\d.,]+[ a-z]*, is larger than the noise\."
    assert re.search(told, said)
    assert re.search(r"that is [\d.]+ ± [\d.]+ times as much", said)
    assert all(1.95 < times < 2.05 for times in times_told(said))
    assert "This ranks places by who takes part as much as by what people do." in said


def test_it_leads_to_the_place_with_the_same_choice(client, released):
    page = client.get(CYCLING).content.decode()
    (place,) = re.findall(r'/places/(\d+)\?metric=distance_km&amp;activity=cycling">', page)
    assert int(place) in PLACES
    assert client.get(f"/places/{place}?metric=distance_km&activity=cycling").status_code == 200


def test_the_first_window_has_no_change(client, released):
    said = words(client.get(CYCLING.replace(SECOND, FIRST)))
    assert "comes first with" in said
    assert "the day before" not in said
    assert WHO not in said


def test_what_may_be_first_by_chance_is_not_said_to_have_grown(tables, earlier):
    """Though twice as much as the day before is told with its interval."""
    amounts = "metric=distance_km&by=region&activity=cycling&measure=amount"
    chart = answer(QueryDict(amounts), tables, earlier).chart
    assert leading(chart, tables, earlier).is_clear
    (first,), (second,), *others = chart.lines
    equal = replace(second, number=first.number)
    found = leading(replace(chart, lines=((first,), (equal,), *others)), tables, earlier)
    assert "either may be first" in found.sentence
    assert re.search(r"the difference from the day before is \+[\d.]+ ± [\d.]+", found.change)
    told = "; but it may come first by chance, which would make it look larger than before."
    assert found.change.endswith(told)
    assert not found.is_clear
    # One that was chosen did not come first by chance.
    chosen = answer(QueryDict(f"{amounts}&region={MUNICH}"), tables, earlier)
    assert chosen.leading.is_clear


def order(tables, earlier, *numbers: tuple[float, float], left_out: int = 0):
    """What is said of rows with these values and half-widths."""
    amounts = "metric=distance_km&by=region&activity=cycling&measure=amount"
    chart = answer(QueryDict(amounts), tables, earlier).chart
    (line,) = chart.lines[0]
    lines = tuple(
        (replace(line, names=(f"Row {at}",), number=Number("n", *one, one[1], 0.0, None, ())),)
        for at, one in enumerate(numbers, start=1)
    )
    return leading(replace(chart, lines=lines, left_out=left_out), tables, earlier)


def test_all_that_may_be_first_are_told(tables, earlier):
    found = order(tables, earlier, (9e9, 1e6), (9e9, 1e6), (9e9, 1e6), (1e9, 1e6))
    assert found.sentence.endswith("is within the noise, and 3 may be first, Row 3 among them.")
    assert not found.is_clear
    found = order(tables, earlier, (9e9, 1e6), (8e9, 1e6), (7e9, 3e9))
    assert found.sentence.endswith("noise; but Row 3, with more noise, may be first, too.")
    assert not found.is_clear
    found = order(tables, earlier, (9e9, 1e6), (8e9, 1e6))
    assert found.sentence.endswith("is larger than the noise.")
    assert found.is_clear


def test_what_is_clearly_below_any_other_is_not_first(tables, earlier):
    """However near it is to a first that has much noise."""
    found = order(tables, earlier, (100e6, 25e6), (98e6, 2e6), (80e6, 2e6))
    assert found.sentence.endswith("is within the noise: either may be first.")


def test_rows_that_are_not_drawn_may_be_first(tables, earlier):
    found = order(tables, earlier, (9e9, 1e6), (9e9, 1e6), left_out=7)
    assert found.sentence.endswith("is within the noise, and at least 2 may be first.")
    found = order(tables, earlier, (9e9, 1e6), (8e9, 1e6), left_out=7)
    assert found.sentence.endswith("is larger than the noise.")
    assert found.is_clear
    found = order(tables, earlier, (9e9, 1e6), left_out=7)
    assert "comes first with" in found.sentence
    assert not found.is_clear


def test_the_first_of_many_that_are_alike_seldom_seems_to_have_grown():
    """Of 4,000 at most 255, as of any one row; without the rule it is more than one in ten."""
    noise, width = np.random.default_rng(7), float(np.log(20))
    called, clear = 0, 0
    for _ in range(4000):
        now, before = noise.laplace(size=10), noise.laplace()
        second, first = (Number("n", one, width, width, 0.0, None, ()) for one in sorted(now)[-2:])
        then = Number("n", before, width, width, 0.0, None, ())
        change, ahead = Change.between(then, first), Change.between(second, first)
        clear += change.is_clear
        chance = may_be_chance(change, is_clearly_first=ahead.is_clear)
        called += change.is_clear and not chance
    assert called <= 255
    assert clear > 400


def test_how_to_read_it_promises_no_more_than_the_intervals_hold(client, tables):
    """This task has no fit of what clipping took away."""
    assert tables.shown.config.clip_uncertainty is None
    said = words(client.get(CYCLING))
    assert "95 times in 100 the true number lies inside, but for what clipping took away." in said
    assert "Two numbers differ clearly only if" in said


def test_a_number_and_its_interval_stand_on_one_line(client, released):
    assert unbroken("78.4 ± 4.8 % of all, 3 million") == "78.4\xa0±\xa04.8\xa0% of all, 3 million"
    page = client.get(f"{CYCLING}&measure=share").content.decode()
    (said,) = re.findall(r'<p class="answer">(.*?)</p>', page, re.S)
    assert re.search(r"comes first with [\d.]+\xa0±\xa0[\d.]+\xa0%", said)
    assert not re.search(r" [±%]|± ", said)


def test_nothing_comes_first_in_another_order_or_by_two_keys(client, released):
    assert "comes first" not in words(client.get(f"{CYCLING}&sort=name"))
    assert "comes first" not in words(client.get(f"{AT}?by=activity&second=country"))


def test_all_but_operators_are_told_why_they_do_not_see_how_many_took_part(client, released):
    _reached(FIRST, 26_000)
    _reached(SECOND, 24_000)
    for address in (AT, f"/places/{MUNICH}", f"/releases/compare?task={TASK}"):
        for person in (Client(), client):
            said = words(person.get(address))
            assert FOR_OTHERS in said, address
            assert "24,000" not in said


def test_operators_see_how_many_took_part(operator, released):
    _reached(FIRST, 26_000)
    _reached(SECOND, 24_000)
    told = "24,000 phones took part, and 26,000 the day before: about 8 % fewer."
    assert told in words(operator.get(AT))
    place = words(operator.get(f"/places/{MUNICH}"))
    assert told in place
    assert f"{WHO} {told}" in place
    assert "How many of them were in Munich is not known." in place
    compared = words(operator.get(f"/releases/compare?task={TASK}"))
    assert "and 26,000 in 2026-11-17: about 8 % fewer." in compared


def test_counts_below_a_thousand_are_not_compared(operator, released):
    _reached(FIRST, 0)
    _reached(SECOND, 24_000)
    assert TOO_FEW in words(operator.get(AT))


@pytest.fixture
def operator(collecting):
    person = Client()
    person.force_login(someone("olga", "operator"))
    return person


def _reached(window: str, contributed: int) -> None:
    row = TaskWindow.objects.get(task__name=TASK, window=window)
    told = {"contributed": contributed, "active": 40_000}
    Reach.objects.update_or_create(window=row, defaults=told)


def test_what_a_factor_of_0_makes_of_it_is_told_as_such(client, released):
    for asked in ("activity=cycling", "activity=cycling&metric=co2e_kg"):
        said = words(client.get(f"/places/{MUNICH}?{asked}"))
        assert ("nothing was emitted by cycling in Munich" in said) == ("co2e" in asked)
        assert "0 ± 0" not in said
