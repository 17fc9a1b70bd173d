"""Labels are data: whatever they hold, none of it becomes markup."""

import pytest

from portal.charts import (
    Group,
    Line,
    Mark,
    Place,
    Shade,
    histogram,
    standalone,
    timeline,
    world_map,
)
from tests.portal.charts.drawn import SVG, tree

HOSTILE = [
    "<script>alert(1)</script>",
    '"><image href=x onerror=alert(1)>',
    "</title></svg><b>",
    "' onload='alert(1)",
    "&lt;&amp;&#60;",
    "]]><!--",
    "\x00\x08\x1b\ud800\uffff",
    "{{ settings }} {% now %}",
]
KNOWN = {
    "svg", "title", "desc", "defs", "pattern", "path", "g", "rect", "circle", "text", "a", "style",
}  # fmt: skip


def charts(words: str) -> list[str]:
    mark = Mark(3.0, 0.5, note=words, href=words)
    hidden = Mark(None, note=words, href=words)
    groups = [Group(words, (mark, hidden), href=words), Group("plain", (hidden, mark))]
    names = {"title": words, "unit": words}
    return [
        histogram(groups, [words, "other"], **names),
        histogram(groups, [words, "other"], stacked=True, width=360, **names),
        histogram([Group(words, (hidden,))], [words], **names),
        timeline([words, "b"], [Line(words, (mark, hidden)), Line("", (mark, mark))], **names),
        world_map({"FR": mark, words: mark, "DE": hidden}, [], **names),
        world_map(
            {}, [Place(words, 45.7, 4.8, mark, Shade(30.0)), Place(words, 46.0, 5.0, hidden)],
            colour_title=words, within="FR", **names,
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_stay_words(words: str) -> None:
    for chart in charts(words):
        for svg in (chart, standalone(chart)):
            for element in tree(svg).iter():
                assert element.tag.removeprefix(SVG) in KNOWN
                assert not [name for name in element.attrib if name.startswith("on")]


def test_words_are_told_as_they_are() -> None:
    label = 'Saint-Denis & "Île" <nord>'
    svg = histogram([Group(label, (Mark(1.0),))], ["n"], title="t", unit="km")
    texts = [one.text for one in tree(svg).iter()]
    assert label in texts
    assert f"{label}: 1 km" in texts


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", " javascript:x", "data:text/html,x", "//evil.example", "/\\evil", "x"],
)
def test_an_address_that_is_no_address_of_a_page_is_no_link(address: str) -> None:
    svg = histogram([Group("a", (Mark(1.0, href=address),))], ["n"], title="t", unit="")
    assert "href" not in svg


@pytest.mark.parametrize("address", ["/places/1?a=1&b=2", "?w=x", "#y", "https://example.org/"])
def test_an_address_of_a_page_is_a_link(address: str) -> None:
    svg = histogram([Group("a", (Mark(1.0, href=address),))], ["n"], title="t", unit="")
    links = tree(svg).findall(".//{*}a")
    assert [one.attrib["href"] for one in links] == [address]
