"""Drafts in a real browser: by two people, offline, from files, without scripts."""

import re

from playwright.sync_api import Browser, Page, expect

from portal.tasks.starting_points import starting_point
from tests.browser.conftest import Complaints, axe_clean, sign_in, watch
from tests.browser.editing import begin, draft_of, pane, state, tab
from tests.parts import Site


def test_two_people_on_one_draft_choose(
    page: Page, name: str, browser: Browser, site: Site, complaints: Complaints
) -> None:
    complaints.forgive("status of 409")
    begin(page, name)
    other = browser.new_context(base_url=site.url, storage_state=page.context.storage_state())
    watch(other, site, complaints)
    theirs = other.new_page()
    theirs.goto(f"/tasks/{name}/edit")
    theirs.get_by_label("Description").fill("Theirs")
    expect(state(theirs)).to_have_text("Saved, version 2")
    page.get_by_label("Description").fill("Mine")
    stale = page.locator("#stale")
    expect(stale).to_contain_text("saved this draft while you were writing")
    expect(stale.locator("mark").first).to_have_text("description: Theirs")
    assert "description: Theirs" in draft_of(page, name)
    axe_clean(page)
    page.get_by_role("button", name="Save yours over theirs").click()
    expect(state(page)).to_have_text("Saved, version 3")
    assert "description: Mine" in draft_of(page, name)

    theirs.get_by_label("Description").fill("Theirs again")
    expect(theirs.locator("#stale")).to_be_visible()
    theirs.get_by_role("button", name="Take theirs").click()
    expect(theirs.get_by_label("Description")).to_have_value("Mine")
    expect(state(theirs)).to_have_text("Saved, version 3")
    other.close()


def test_what_cannot_be_saved_is_said_and_saved_later(
    page: Page, name: str, complaints: Complaints
) -> None:
    complaints.forgive("ERR_INTERNET_DISCONNECTED")
    begin(page, name)
    page.context.set_offline(True)
    page.get_by_label("Description").fill("Written on a train")
    expect(state(page)).to_contain_text("Not saved: the server cannot be reached")
    page.context.set_offline(False)
    expect(state(page)).to_have_text("Saved, version 2")
    assert "Written on a train" in draft_of(page, name)


def test_a_draft_that_cannot_be_read_opens_as_yaml(page: Page, name: str) -> None:
    sign_in(page, "analyst")
    page.goto("/tasks/new")
    page.get_by_label("Name", exact=True).fill(name)
    broken = {"name": "a.yaml", "mimeType": "application/yaml", "buffer": b"name: [\n"}
    page.get_by_label("Upload a spec").set_input_files(broken)
    page.get_by_role("button", name="Make the draft").click()
    expect(page.locator("#editor")).to_have_attribute("data-ready", "")
    expect(tab(page, "YAML")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".problem")).to_contain_text("not YAML")


def test_submitting_takes_along_what_was_just_typed(page: Page, name: str) -> None:
    begin(page, name)
    page.get_by_label("Description").fill("Typed at the last moment")
    page.get_by_role("button", name="Submit for review").click()
    expect(page).to_have_url(re.compile(f"/tasks/{name}$"))
    assert "Typed at the last moment" in draft_of(page, name)


def test_an_uploaded_file_becomes_the_document(page: Page, name: str) -> None:
    begin(page, name)
    text = starting_point("trip-lengths").text.replace("trip-lengths", name)
    page.set_input_files(
        "#upload", {"name": "a.yaml", "mimeType": "application/yaml", "buffer": text.encode()}
    )
    expect(state(page)).to_have_text("Saved, version 2")
    assert draft_of(page, name) == text
    tab(page, "Form").click()
    expect(pane(page, "sql")).to_be_visible()


def test_it_can_be_written_without_scripts(
    page: Page, name: str, browser: Browser, site: Site
) -> None:
    begin(page, name)
    plain = browser.new_context(
        base_url=site.url,
        java_script_enabled=False,
        storage_state=page.context.storage_state(),
    ).new_page()
    plain.goto(f"/tasks/{name}/edit")
    box = plain.get_by_label("The task's document")
    box.fill(box.input_value().replace("epsilon: 2", "epsilon: 20"))
    plain.get_by_role("button", name="Check").click()
    expect(plain.locator(".problem")).to_contain_text("protects no one")
    box.fill(box.input_value().replace("epsilon: 20", "epsilon: 1"))
    plain.get_by_role("button", name="Save", exact=True).click()
    expect(plain.get_by_text("The draft is saved.")).to_be_visible()
    assert "epsilon: 1\n" in draft_of(page, name)
    plain.context.close()
