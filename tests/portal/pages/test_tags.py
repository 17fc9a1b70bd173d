"""The template tags that every page uses."""

from datetime import UTC, datetime, timedelta

import pytest
from django import forms
from django.core.paginator import Paginator
from django.template import Context, Template
from django.test import RequestFactory

from portal.accounts.models import ApiToken
from portal.pages.icons import ICONS
from portal.pages.moments import in_words, relative

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def render(source: str, **context: object) -> str:
    return Template(source).render(Context(context))


class Sample(forms.Form):
    name = forms.CharField(help_text="Letters only.")
    note = forms.CharField(required=False)
    agree = forms.BooleanField()
    scopes = forms.MultipleChoiceField(
        choices=[("read", "Read")], widget=forms.CheckboxSelectMultiple, help_text="At least one."
    )
    hidden = forms.CharField(widget=forms.HiddenInput)


def test_a_badge_has_the_states_words_and_colour() -> None:
    row = ApiToken(state=ApiToken.State.ACTIVE)
    assert render("{% badge row %}", row=row) == '<span class="badge badge-good">Active</span>'


@pytest.mark.parametrize("name", ICONS)
def test_an_icon_is_a_drawing_that_screen_readers_skip(name: str) -> None:
    drawn = render("{% icon name %}", name=name)
    assert drawn.startswith("<svg")
    assert 'aria-hidden="true"' in drawn


def test_an_unknown_icon_is_refused() -> None:
    with pytest.raises(KeyError):
        render('{% icon "unicorn" %}')


def test_ago_carries_the_full_time() -> None:
    moment = datetime.now(UTC) - timedelta(minutes=5)
    shown = render("{{ moment|ago }}", moment=moment)
    assert "5 minutes ago</time>" in shown
    assert f'title="{moment:%Y-%m-%d %H:%M:%S} UTC"' in shown


def test_ago_of_nothing_is_never() -> None:
    assert render("{{ moment|ago }}", moment=None) == "never"


@pytest.mark.parametrize(
    ("away", "words"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(seconds=50), "50 seconds ago"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=119), "1 hour ago"),
        (timedelta(days=6), "6 days ago"),
        (timedelta(days=13), "1 week ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(days=-2), "in 2 days"),
    ],
)
def test_moments_in_words(away: timedelta, words: str) -> None:
    assert relative(NOW - away, now=NOW) == words


def test_lengths_in_words() -> None:
    assert in_words(timedelta(seconds=1)) == "1 second"
    assert in_words(timedelta(0)) == "0 seconds"


def test_the_pager_keeps_the_rest_of_the_query() -> None:
    request = RequestFactory().get("/audit", {"action": "token.created", "page": "2"})
    page = Paginator(range(100), 10).page(2)
    shown = Template("{% pager page %}").render(Context({"request": request, "page": page}))
    assert "11–20 of 100" in shown
    assert 'rel="next" href="?action=token.created&amp;page=3"' in shown
    assert 'rel="prev" href="?action=token.created&amp;page=1"' in shown


def test_the_pager_of_one_page_has_no_links() -> None:
    request = RequestFactory().get("/audit")
    page = Paginator(range(3), 10).page(1)
    shown = Template("{% pager page %}").render(Context({"request": request, "page": page}))
    assert "1–3 of 3" in shown
    assert "<a" not in shown


def test_a_field_ties_its_hint_and_error_to_the_control() -> None:
    form = Sample({"scopes": []})
    shown = render("{% field field %}", field=form["name"])
    assert '<label for="id_name">' in shown
    assert 'aria-describedby="id_name_helptext id_name_error"' in shown
    assert 'aria-invalid="true"' in shown
    assert 'id="id_name_helptext"' in shown
    assert 'id="id_name_error"' in shown


def test_a_field_says_when_it_may_stay_empty() -> None:
    assert "optional" in render("{% field field %}", field=Sample()["note"])
    assert "optional" not in render("{% field field %}", field=Sample()["name"])


def test_a_tick_box_stands_before_its_label() -> None:
    shown = render("{% field field %}", field=Sample()["agree"])
    assert shown.index("<input") < shown.index("<label")


def test_several_boxes_are_a_fieldset_with_a_legend() -> None:
    shown = render("{% field field %}", field=Sample({})["scopes"])
    assert "<legend>" in shown
    assert '<fieldset class="field has-error" aria-describedby="id_scopes_helptext' in shown


def test_a_hidden_field_is_only_its_input() -> None:
    shown = render("{% field field %}", field=Sample()["hidden"]).strip()
    assert shown.startswith('<input type="hidden"')
    assert "label" not in shown


def test_initials() -> None:
    assert render("{{ name|initials }}", name="Omar el Haddad") == "OH"
    assert render("{{ name|initials }}", name="analyst") == "AN"
