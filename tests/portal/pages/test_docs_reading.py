"""The page for those who read a release: its examples are what the portal would say."""

import re
from typing import Any

from django.test import Client

from portal.pages.docs import shelf
from portal.releases.browsing.change import Change
from portal.releases.reading import Number
from portal.releases.templatetags.release_words import changed
from tests.portal.pages.reading_docs import tables, text

PAGE = "reading-a-release"


def _number(told: str) -> Number:
    value, half_width = (float(one.replace(",", "")) for one in told.split(" ± "))
    return Number("num_trips", value, half_width, half_width, 0.0, None, ())


def test_its_comparisons_are_those_of_the_portal() -> None:
    ((_, rows),) = tables(PAGE)
    assert len(rows) == 2
    for _, now, then, difference, word in rows:
        change = Change.between(_number(then), _number(now))
        said = " ".join(re.sub(r"<[^>]+>", "", changed(change)).split())
        assert said == f"{difference} {word}"


def test_it_speaks_to_readers_and_names_no_knob() -> None:
    said = text(PAGE)
    assert "MAYFLY_" not in said
    assert "heartbeat" not in said


def test_it_promises_no_more_than_the_card_and_the_intervals_do() -> None:
    said = " ".join(text(PAGE).split())
    assert "hardly anything can be told from it about any one phone" in said
    assert "whether any one person was there" not in said
    assert "± is of the noise alone, and the page says so" in said
    assert "Only of two shares of one whole" in said
    assert "may then do so by chance" in said


def test_a_list_of_releases_leads_to_it(client: Client, db: None, settings: Any) -> None:
    settings.PUBLIC_RELEASES = True
    assert 'href="/docs/reading-a-release"' in client.get("/releases").content.decode()


def test_no_table_of_the_docs_is_broken(client: Client, db: None) -> None:
    """A row apart from its table is shown as it was typed."""
    for page in shelf().pages:
        assert "<p>|" not in client.get(page.url).content.decode(), page.slug
