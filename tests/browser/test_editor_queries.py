"""The query panes in a real browser: what is offered, laid out and put in."""

import re

from playwright.sync_api import Page, expect

from tests.browser.editing import begin, draft_of, pane, put_in, state, tab


def test_columns_come_before_keywords_and_regions_by_their_names(page: Page, name: str) -> None:
    begin(page, name)
    pane(page, "client_sql").locator(".ace_content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("d")
    offers = page.locator(".ace_autocomplete .ace_line")
    expect(offers.first).to_contain_text(
        re.compile("direction|distance_km|duration_min|day_of_week")
    )
    page.keyboard.press("Escape")
    page.keyboard.press("Backspace")
    page.keyboard.type("WHERE region = 'zuri")
    expect(page.locator(".ace_autocomplete")).to_contain_text("Zürich, Switzerland")
    page.keyboard.press("Enter")
    expect(pane(page, "client_sql")).to_contain_text("WHERE region = '2657896'")


TYPE = """([part, text]) => {
  const editor = window.ace.edit(document.querySelector(`[data-ace=${part}]`));
  for (const letter of text) editor.execCommand("insertstring", letter);
}"""


def test_who_types_faster_than_lists_close_is_offered_regions_all_the_same(
    page: Page, name: str
) -> None:
    """All letters in one turn of the browser, as a busy page receives them."""
    begin(page, name)
    put_in(page, "client_sql", " ")
    page.evaluate(TYPE, ["client_sql", "WHERE region = 'zuri"])
    offers = page.locator(".ace_autocomplete")
    expect(offers).to_contain_text("Zürich, Switzerland")
    # A letter more, and Enter before the server has answered: not what the list says any more.
    page.evaluate(TYPE, ["client_sql", "x"])
    page.keyboard.press("Enter")
    expect(offers).to_be_hidden()
    expect(pane(page, "client_sql")).to_contain_text("WHERE region = 'zurix")
    page.keyboard.press("Backspace")
    expect(offers).to_contain_text("Zürich, Switzerland")
    page.keyboard.press("Escape")
    page.keyboard.type("c")
    expect(state(page)).to_have_text(re.compile("^Saved"))
    expect(offers).to_be_hidden()


TYPE_AND_ENTER = """([part, letter]) => {
  const editor = window.ace.edit(document.querySelector(`[data-ace=${part}]`));
  editor.execCommand("insertstring", letter);
  editor.completer.insertMatch();
}"""


def test_enter_puts_in_what_is_marked_if_the_letters_typed_since_still_say_so(
    page: Page, name: str
) -> None:
    """The letter and Enter in one turn of the browser: the list is of the text before it."""
    begin(page, name)
    put_in(page, "client_sql", " ")
    page.evaluate(TYPE, ["client_sql", "WHERE region = 'zuric"])
    offers = page.locator(".ace_autocomplete")
    expect(offers).to_contain_text("Zürich, Switzerland")
    page.evaluate(TYPE_AND_ENTER, ["client_sql", "h"])
    expect(pane(page, "client_sql")).to_contain_text("WHERE region = '2657896'")
    expect(offers).to_be_hidden()


def test_queries_are_laid_out_and_nested(page: Page, name: str) -> None:
    begin(page, name, "Stars for the assistant")
    put_in(page, "client_sql", "  -- kept")
    page.keyboard.press("Alt+Shift+F")
    expect(pane(page, "client_sql")).to_contain_text("-- kept")
    page.get_by_role("button", name="One statement").click()
    expect(pane(page, "sql")).to_contain_text("FROM (")
    expect(state(page)).to_have_text(re.compile("^Saved"))
    assert "server_sql" not in draft_of(page, name)
    page.get_by_role("button", name="Two queries").click()
    expect(pane(page, "server_sql")).to_be_visible()
    expect(pane(page, "server_sql")).to_contain_text("FROM device_results")
    expect(state(page)).to_have_text(re.compile("^Saved"))
    assert "\nsql:" not in draft_of(page, name)


def test_the_schema_puts_columns_where_the_cursor_was(page: Page, name: str) -> None:
    begin(page, name)
    put_in(page, "client_sql", "/* ")
    tab(page, "Schema").click()
    page.get_by_role("button", name="hour_of_day").last.click()
    page.get_by_role("button", name="cycling", exact=True).click()
    expect(pane(page, "client_sql")).to_contain_text("/* hour_of_day'cycling'")
