"""Writing a task in a real browser: from a template to review, by mouse and by keyboard."""

import re

from playwright.sync_api import Page, expect

from portal.tasks.starting_points import starting_point
from tests.browser.conftest import Complaints, axe_clean, fits, sign_in
from tests.browser.editing import TABS, begin, draft_of, pane, put_in, state, tab
from tests.browser.screens import PHONE
from tests.parts import Site


def test_from_a_template_to_review(page: Page, name: str) -> None:
    begin(page, name)
    tab(page, "Problems").click()
    expect(page.locator("#stops")).to_contain_text("accepts this task")

    put_in(page, "client_sql", ", event_time")
    mark = pane(page, "client_sql").locator(".ace_gutter .ace_icon_svg.ace_error")
    expect(mark).to_have_count(1)
    problem = page.locator(".problem")
    expect(problem).to_contain_text("event_time cannot be read")
    expect(problem).to_contain_text("Use privacy_time_unit, hour_of_day or day_of_week.")
    expect(page.locator("#stops")).to_contain_text("1 problem keeps this task")
    expect(state(page)).to_have_text("Saved, version 2")
    axe_clean(page)

    page.get_by_role("button", name="Submit for review").click()
    expect(page).to_have_url(re.compile("/edit$"))

    problem.get_by_role("button").click()
    for _ in ", event_time":
        page.keyboard.press("Control+End")
        page.keyboard.press("Backspace")
    tab(page, "Explain").click()
    expect(page.locator("[data-explain]")).to_contain_text("Each phone of every population")
    expect(page.locator("[data-explain]:not([data-stale])")).to_be_visible()
    expect(state(page)).to_have_text(re.compile("^Saved, version"))
    assert draft_of(page, name) == starting_point("weekly-trips").text.replace(
        "name: weekly-trips", f"name: {name}"
    )

    page.get_by_role("button", name="Submit for review").click()
    expect(page).to_have_url(re.compile(f"/tasks/{name}$"))
    expect(page.get_by_text("awaits review by a second person")).to_be_visible()


def test_every_tab_shows_its_part_and_is_accessible(page: Page, name: str) -> None:
    begin(page, name)
    words = ("accepts", "On the phone", "Invented data", "Shown from", "of 4", "One row per trip")
    for title, shown in zip(TABS, words, strict=True):
        tab(page, title).click()
        panel = page.get_by_role("tabpanel", name=title)
        expect(panel).to_contain_text(shown)
        expect(panel).not_to_have_attribute("aria-busy", "true")
        if title in ("Preview", "Forecast", "Schema"):
            axe_clean(page)
    tab(page, "YAML").click()
    axe_clean(page)


def test_the_new_page_is_accessible_and_fits(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto("/tasks/new")
    axe_clean(page)
    page.set_viewport_size(PHONE)
    fits(page)


def test_it_fits_a_phone(page: Page, name: str) -> None:
    begin(page, name)
    page.set_viewport_size(PHONE)
    fits(page)
    for title in TABS:
        tab(page, title).click()
        fits(page)
    axe_clean(page)


def test_the_form_and_the_yaml_are_one_document(page: Page, name: str) -> None:
    begin(page, name)
    page.get_by_label("ε per window").fill("0.5")
    page.get_by_label("Unit").select_option("day")
    expect(page.locator("[data-field='window.unit']")).to_contain_text(
        "A daily task may spend at most 0.57 a day"
    )
    page.get_by_label("Scale of num_trips in driving").fill("30")
    expect(state(page)).to_have_text(re.compile("^Saved"))
    tab(page, "YAML").click()
    text = draft_of(page, name)
    assert "window: {unit: day, grace_hours: 168}" in text
    assert "driving: {num_trips: 30, distance_km: 410, duration_min: 620}" in text
    assert "# What 95 of 100 phones stay below" in text

    yaml = page.locator("#view-yaml .ace_content")
    yaml.click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("description: {\n")
    tab(page, "Problems").click()
    expect(page.locator(".problem")).to_contain_text("not YAML")
    tab(page, "Form").click(force=True)  # although it is said to be off
    expect(tab(page, "YAML")).to_have_attribute("aria-selected", "true")
    yaml.click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.insert_text("# mine\n")
    expect(page.locator("#stops")).to_contain_text("accepts")
    tab(page, "Form").click()
    expect(page.get_by_label("ε per window")).to_have_value("0.5")
    expect(state(page)).to_have_text(re.compile("^Saved"))
    assert draft_of(page, name) == "# mine\n" + text


def test_more_than_a_week_has_is_a_problem_beside_its_field(page: Page, name: str) -> None:
    begin(page, name)
    page.get_by_label("ε per window").fill("5")
    field = page.locator("[data-field='anonymization.epsilon']")
    expect(field.locator(".error")).to_contain_text("Lower ε to at most 4.")
    expect(page.get_by_label("ε per window")).to_have_attribute("aria-invalid", "true")
    tab(page, "Problems").click()
    expect(page.locator("#stops")).to_contain_text("1 problem keeps this task")
    expect(state(page)).to_have_text(re.compile("^Saved"))
    page.get_by_role("button", name="Submit for review").click()
    expect(page).to_have_url(re.compile("/edit$"))


# Another task takes 3.9 of one week to come, and gives it back.
RESERVE = """
from datetime import timedelta
from aggregation.protocol.windows import Unit, Window
from portal.clock import civil_clock
from portal.ledger.services import reserve
clock = civil_clock()
week = Window.containing(clock.now() + timedelta(weeks=3), Unit.WEEK)
reserve(task="other", streams=["assistant"], windows=[week], hundredths=390, clock=clock)
print(week.id, week.label)
"""
GIVE_BACK = """
from aggregation.protocol.windows import Unit, Window
from portal.clock import civil_clock
from portal.ledger.services import settle
freed = [Window.parse("{week}", Unit.WEEK)]
settle(task="other", spent=(), freed=freed, clock=civil_clock())
"""


def test_more_than_others_leave_is_told_before_and_after_submitting(
    page: Page, name: str, site: Site
) -> None:
    week, label = site.shell(RESERVE).split()[-2:]
    try:
        begin(page, name, "Stars for the assistant")
        words = f"not approved as the ledger stands: others hold 3.9 of assistant in {label}"
        expect(page.locator("#stops")).to_contain_text(words)
        expect(page.locator("#stops")).to_be_visible()
        page.get_by_role("button", name="Submit for review").click()
        expect(page.get_by_text("cannot be approved as the ledger stands")).to_be_visible()
    finally:
        site.shell(GIVE_BACK.format(week=week))


def test_a_mechanism_can_be_changed_and_changed_back(page: Page, name: str) -> None:
    begin(page, name)
    before = draft_of(page, name)
    kind = page.get_by_label("Mechanism")
    kind.select_option("joint_clipping")
    expect(page.get_by_label("Scale of num_trips in driving")).to_be_hidden()
    expect(state(page)).to_have_text("Saved, version 2")
    kind.select_option("group_scaling")
    expect(page.get_by_label("Scale of num_trips in driving")).to_have_value("24")
    expect(state(page)).to_have_text("Saved, version 3")
    after = draft_of(page, name)
    assert "driving: {num_trips: 24, distance_km: 410, duration_min: 620}" in after
    assert after.splitlines()[:20] == before.splitlines()[:20]


def test_clip_uncertainty_is_filled_in_by_metric(page: Page, name: str) -> None:
    begin(page, name, "Cycling by hour")
    page.get_by_label("Clip uncertainty of rides, random").fill("0.5")
    missing = page.get_by_text("The field 'source' is missing in anonymization.clip_uncertainty.")
    expect(missing.first).to_be_visible()
    page.get_by_label("Events are counted by").fill("rides")
    page.get_by_label("Where the clip uncertainty comes from").fill("A survey")
    page.get_by_label("Clip uncertainty of distance_km, random").fill("1.5")
    expect(page.locator("#stops")).to_contain_text("accepts")
    expect(page.get_by_text("rides gets ± 0.5 % for clipping")).to_be_visible()
    page.get_by_label("Clip uncertainty of distance_km, together").fill("2")
    invalid = page.get_by_label("Clip uncertainty of distance_km, together")
    expect(invalid).to_have_attribute("aria-invalid", "true")


def test_matrices_are_typed_into_the_form_and_stand_in_the_yaml(page: Page, name: str) -> None:
    begin(page, name)
    page.get_by_label("Mechanism").select_option("rotated")
    expect(state(page)).to_have_text("Saved, version 2")
    before = draft_of(page, name)
    assert "walking: [[0.008333333, 0.0, 0.0], " in before
    page.get_by_label("Basis of walking: num_trips in u2").fill("-0.000012")
    rho = page.get_by_label("Correction of num_trips in walking")
    rho.fill("3")
    first = page.locator(".matrix").first
    expect(first).to_contain_text("A correction of 'walking' is 3.0, outside 1 to 2. Fit it again.")
    expect(rho).to_have_attribute("aria-invalid", "true")
    first.locator("summary").click()
    tab(page, "Problems").click()
    page.locator(".problem").get_by_role("button").click()
    expect(rho).to_be_focused()
    rho.fill("1.0")
    expect(page.locator("#stops")).to_contain_text("accepts this task")
    expect(state(page)).to_have_text(re.compile("^Saved"))
    assert draft_of(page, name) == before.replace("0.0], [0.0", "0.0], [-1.2e-05", 1)
    page.set_viewport_size(PHONE)
    fits(page)


def test_slices_that_the_form_does_not_show_are_one_click_away(page: Page, name: str) -> None:
    begin(page, name)
    text = starting_point("weekly-trips").text.replace("scale_by: [activity]", "scale_by: [region]")
    sent = {"name": "task.yaml", "mimeType": "application/yaml", "buffer": text.encode()}
    page.locator("#upload").set_input_files(sent)  # type: ignore[arg-type]
    expect(state(page)).to_have_text("Saved, version 2")
    tab(page, "Form").click()
    note = page.locator("[data-mechanism-note]")
    expect(note).to_contain_text("they are written in the YAML")
    note.get_by_role("button").click()
    expect(tab(page, "YAML")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#view-yaml .ace_content")).to_contain_text("scale_by: [region]")


def test_without_a_document_there_is_no_form_and_the_page_says_why(page: Page, name: str) -> None:
    begin(page, name)
    why = page.get_by_text("There is no form for a document that cannot be read.")
    expect(why).to_be_hidden()
    expect(tab(page, "Form")).to_have_attribute("aria-disabled", "false")
    sent = {"name": "task.yaml", "mimeType": "application/yaml", "buffer": b"name: [a"}
    page.locator("#upload").set_input_files(sent)  # type: ignore[arg-type]
    expect(why).to_be_visible()
    expect(tab(page, "Form")).to_have_attribute("aria-disabled", "true")
    expect(tab(page, "Form")).to_have_accessible_description(re.compile("Mend the YAML first"))
    tab(page, "Form").click(force=True)  # although it is said to be off
    expect(tab(page, "YAML")).to_have_attribute("aria-selected", "true")
    expect(tab(page, "Problems")).to_have_attribute("aria-selected", "true")


def test_it_works_by_keyboard_alone(page: Page, name: str) -> None:
    begin(page, name)
    page.locator("#tab-form").focus()
    page.keyboard.press("ArrowRight")
    expect(tab(page, "YAML")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(tab(page, "Form")).to_have_attribute("aria-selected", "true")
    # Into the first query, a change, out of it again, and on to the problem it made.
    page.locator("[data-format-all]").focus()
    page.keyboard.press("Tab")  # the gutter
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("x")
    expect(page.locator(".problem").first).to_be_attached()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    page.locator("#tab-explain").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Tab")  # the panel, which can be scrolled
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(pane(page, "client_sql").locator("textarea")).to_be_focused()


def test_a_tab_that_is_asked_for_too_often_says_so_and_comes(
    page: Page, name: str, complaints: Complaints
) -> None:
    complaints.forgive("status of 429")
    begin(page, name)
    message, hint = "You have asked for many previews.", "Ask again in a second."
    too_soon = {"error": {"message": message, "hint": hint}}
    page.route(
        "**/edit/preview",
        lambda it: it.fulfill(status=429, json=too_soon, headers={"Retry-After": "1"}),
        times=1,
    )
    tab(page, "Preview").click()
    panel = page.get_by_role("tabpanel", name="Preview")
    expect(panel).to_contain_text("You have asked for many previews. Ask again in a second.")
    expect(panel).to_contain_text("Invented data")
    expect(panel).not_to_contain_text("asked for many")


def test_one_question_at_a_time_and_the_last_answer_is_shown(page: Page, name: str) -> None:
    begin(page, name)
    tab(page, "Cost").click()
    panel = page.get_by_role("tabpanel", name="Cost")
    expect(panel).to_contain_text("Each week costs a phone ε 2.")
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url) if "/edit/cost" in sent.url else None)
    for epsilon in ("1", "1.1", "1.2"):
        page.get_by_label("ε per window").fill(epsilon)
        page.keyboard.press("End")
    expect(panel).to_contain_text("Each week costs a phone ε 1.2.")
    expect(panel).not_to_have_attribute("aria-busy", "true")
    assert len(asked) <= 3
