"""The documentation's pages, their frame and the search over them."""

import os
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from aggregation.errors import Problem
from portal.pages import docs, docs_markdown, docs_states, docs_steps
from portal.pages.docs_search import search

pytestmark = pytest.mark.django_db


def test_it_works_for_guests(client: Client) -> None:
    for page in docs.shelf().pages:
        answer = client.get(page.url)
        assert answer.status_code == 200, page.slug
        assert f"<h1>{page.title}</h1>" in answer.content.decode()


def test_the_sidebar_shows_where_one_is(client: Client) -> None:
    text = client.get("/docs/windows").content.decode()
    assert '<a href="/docs/windows" aria-current="page">Windows</a>' in text
    assert text.count('<a href="/docs/clock">') >= 1


def test_pages_lead_to_the_ones_before_and_after(client: Client) -> None:
    pages = docs.shelf().pages
    first, last = pages[0], pages[-1]
    assert 'rel="prev"' not in client.get(first.url).content.decode()
    assert f'rel="next" href="{pages[1].url}"' in client.get(first.url).content.decode()
    assert 'rel="next"' not in client.get(last.url).content.decode()


def test_a_page_lists_its_headings(client: Client) -> None:
    text = client.get("/docs/windows").content.decode()
    assert '<a href="#ids-and-labels">Ids and labels</a>' in text
    assert '<h2 id="ids-and-labels">' in text


def test_an_unknown_page_is_not_found(client: Client) -> None:
    assert client.get("/docs/no-such-page").status_code == 404
    assert client.get("/docs/..%2fsettings").status_code == 404


def test_it_cannot_be_posted_to(client: Client) -> None:
    assert client.post(reverse("docs")).status_code == 405


def test_html_is_shown_and_never_obeyed() -> None:
    document = docs_markdown.read("# T\n\nS.\n\n<script>alert(1)</script> [x](javascript:alert(1))")
    assert "<script>" not in document.html
    assert 'href="javascript' not in document.html


def test_links_between_files_become_links_between_pages() -> None:
    document = docs_markdown.read("# T\n\nS.\n\n[a](audit.md#how) [b](index.md) [c](/streams)")
    assert 'href="/docs/audit#how"' in document.html
    assert 'href="/docs"' in document.html
    assert 'href="/streams"' in document.html


def test_rows_of_wide_tables_can_stand_as_cards() -> None:
    head = "# T\n\nS.\n\n## Things & more\n\n"
    wide = docs_markdown.read(head + "|A|B|C|D|\n|-|-|-|-|\n|1|2|3|4|\n").html
    assert '<table class="table table-stack" role="table"><caption' in wide
    assert ">Things &amp; more</caption>" in wide
    assert '<th scope="col" role="columnheader">A</th>' in wide
    assert '<td role="cell" data-label="D">4</td>' in wide
    narrow = docs_markdown.read(head + "|A|B|\n|-|-|\n|1|2|\n").html
    assert '<div class="table-wrap"><table class="table">' in narrow
    assert "<td>1</td>" in narrow


def test_the_name_of_a_wide_row_breaks_behind_its_dots() -> None:
    page = "# T\n\nS.\n\n|A|B|C|\n|-|-|-|\n|`a.b`|`c.d`|3|\n\nRun `manage.py`.\n"
    html = docs_markdown.read(page).html
    assert "<code>a.<wbr>b</code>" in html
    assert "<code>c.d</code>" in html
    assert "<code>manage.py</code>" in html


@pytest.mark.parametrize("text", ["", "Words.", "## Two\n\nS.", "# T", "# T\n\ntwo\nlines"])
def test_it_refuses_a_page_without_title_and_summary(text: str) -> None:
    with pytest.raises(Problem, match="title or summary"):
        docs_markdown.read(text)


def test_states_are_drawn_in_their_own_colours() -> None:
    text = "-> active: made\nactive -> revoked: <ended>"
    drawn = docs_states.diagram("ApiToken", text)
    assert '<span class="badge badge-good">Active</span>' in drawn
    assert '<span class="badge badge-neutral">Revoked</span>' in drawn
    assert "&lt;ended&gt;" in drawn


@pytest.mark.parametrize("line", ["active revoked: why", "active -> : why", "active -> revoked"])
def test_it_refuses_a_line_that_is_no_move(line: str) -> None:
    with pytest.raises(Problem, match="not a move"):
        docs_states.moves(line)


def test_steps_are_drawn_in_their_order() -> None:
    drawn = docs_steps.path("device: run -> <bound>\nserver: sum")
    assert drawn.index(">run<") < drawn.index("&lt;bound&gt;") < drawn.index(">sum<")
    with pytest.raises(Problem, match="not a place"):
        docs_steps.path("run -> bound")


def test_a_changed_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for group in docs.CONTENTS:
        for slug in group.slugs:
            (tmp_path / f"{slug}.md").write_text(f"# {slug}\n\nAbout {slug}.\n")
    monkeypatch.setattr(docs, "folder", lambda: tmp_path)
    before = docs.shelf()
    assert docs.shelf() is before
    (tmp_path / "clock.md").write_text("# New\n\nWords.\n")
    os.utime(tmp_path / "clock.md", ns=(1, 1))
    changed = docs.shelf().page("clock")
    assert changed is not None
    assert changed.title == "New"


def test_search_ranks_the_page_about_it_first(client: Client) -> None:
    hits = search(docs.shelf(), "window id")
    assert hits[0].page.slug == "windows"
    assert any(part.marked for part in hits[0].snippet)


def test_every_hit_has_all_the_words() -> None:
    for hit in search(docs.shelf(), "chain hash"):
        text = f"{hit.page.title} {hit.page.summary} "
        text += " ".join(
            f"{s.heading.text if s.heading else ''} {s.text}"
            for s in hit.page.document.sections
            if s.heading == hit.heading
        )
        assert "chain" in text.casefold()
        assert "hash" in text.casefold()


def test_search_finds_knobs_inside_tables() -> None:
    hits = search(docs.shelf(), "MAYFLY_PROXIES")
    assert "settings" in {hit.page.slug for hit in hits}


def test_a_word_by_itself_comes_before_a_part_of_another() -> None:
    """Before each "export", "support" and "portal" there is."""
    hits = search(docs.shelf(), "port")
    assert "settings" in {hit.page.slug for hit in hits[:5]}
    by_itself = [any(p.marked and p.text == "port" for p in hit.snippet) for hit in hits[:3]]
    assert all(by_itself)


def test_a_letter_and_its_name_are_one_word() -> None:
    found = [
        [hit.url for hit in search(docs.shelf(), word)] for word in ("ε", "epsilon", "Epsilon")
    ]
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 30


def test_a_search_says_how_much_it_found(client: Client) -> None:
    total = len(search(docs.shelf(), "noise"))
    text = client.get("/docs", {"q": "noise"}).content.decode()
    assert f"{total} places in the documentation with “noise”; the best 30 are listed." in text
    assert text.count('<ol class="docs-hits">') == 1
    few = len(search(docs.shelf(), "chain hash"))
    assert f"{few} places in the documentation with “chain hash”." in (
        client.get("/docs", {"q": "chain hash"}).content.decode()
    )


def test_search_shows_what_was_asked_without_obeying_it(client: Client) -> None:
    text = client.get("/docs", {"q": "<b>zebra</b>"}).content.decode()
    assert "<b>zebra" not in text
    assert "&lt;b&gt;zebra&lt;/b&gt;" in text
    assert "Nothing has all of these words" in text


def test_a_search_for_nothing_shows_the_first_page(client: Client) -> None:
    assert "<h1>What Mayfly is</h1>" in client.get("/docs", {"q": "  "}).content.decode()
    assert search(docs.shelf(), "!? …") == []
