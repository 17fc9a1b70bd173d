import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import axe_clean, sign_in
from tests.parts import Site


def _person_with_password(site: Site, name: str) -> str:
    printed = site.manage("add_person", name, "--role", "analyst")
    return re.search(r"shown only now: (\S+)", printed)[1]  # type: ignore[index]


def test_a_newcomer_chooses_a_password_first(page: Page, site: Site) -> None:
    starting = _person_with_password(site, "newcomer")
    page.goto("/account/tokens")
    page.get_by_label("Username").fill("newcomer")
    page.get_by_label("Password").fill(starting)
    page.locator("main").get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose your password")
    axe_clean(page)
    page.get_by_label("Password you have now").fill(starting)
    page.get_by_label("New password", exact=True).fill("four quite random words")
    page.get_by_label("New password again").fill("four quite random words")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_text("Your password is changed.")).to_be_visible()


def test_a_wrong_password_is_told_where_one_looks(page: Page) -> None:
    page.goto("/login")
    page.get_by_label("Username").fill("nobody-here")
    page.get_by_label("Password").fill("wrong")
    page.locator("main").get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("do not match")
    axe_clean(page)


def test_a_token_is_shown_once_works_and_ends(page: Page, site: Site) -> None:
    sign_in(page, "consumer")
    page.goto("/account/tokens")
    page.get_by_label("Name", exact=True).fill("from the browser")
    page.get_by_label("Your password").fill("not mine")
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_label("Your password")).to_have_accessible_description(
        re.compile("This is not your password.")
    )
    axe_clean(page)
    page.get_by_label("Your password").fill("consumer")
    page.get_by_role("button", name="Make the token").click()
    secret = page.locator("#secret").inner_text()
    axe_clean(page)
    headers = {"Authorization": f"Bearer {secret}"}
    program = page.context.browser.new_context(extra_http_headers=headers)  # type: ignore[union-attr]
    assert program.request.get(f"{site.url}/api/v1/me").status == 200
    page.goto("/account/tokens")
    expect(page.locator("#secret")).to_have_count(0)
    page.get_by_role("button", name="Revoke from the browser").click()
    expect(page.get_by_text("It no longer works.")).to_be_visible()
    assert program.request.get(f"{site.url}/api/v1/me").status == 401
    program.close()


def test_who_lets_others_in_types_their_own_password(page: Page, site: Site) -> None:
    _person_with_password(site, "latecomer")
    sign_in(page, "operator")
    page.goto("/people")
    page.get_by_role("link", name="latecomer").click()
    card = page.get_by_role("region", name="Forgot the password?")
    card.get_by_label("Your password").fill("not mine")
    card.get_by_role("button", name="New starting password").click()
    expect(card.get_by_label("Your password")).to_have_accessible_description(
        re.compile("This is not your password.")
    )
    axe_clean(page)
    # The other form of this page is its own.
    roles = page.get_by_role("region", name="Roles")
    roles.get_by_label("Consumer").check()
    roles.get_by_label("Your password").fill("operator")
    roles.get_by_role("button", name="Save the roles").click()
    expect(page.get_by_text("The roles of latecomer are saved.")).to_be_visible()
    card.get_by_label("Your password").fill("operator")
    card.get_by_role("button", name="New starting password").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Starting password of latecomer")
    axe_clean(page)


def test_the_api_can_be_tried(page: Page) -> None:
    sign_in(page, "operator")
    page.goto("/api#people-list")
    endpoint = page.locator("#people-list")
    endpoint.get_by_label("page_size").fill("2")
    expect(endpoint.locator("[id^=curl]")).to_contain_text("/api/v1/people?page_size=2")
    endpoint.get_by_role("button", name="Send").click()
    expect(endpoint.locator("[data-status]")).to_have_text(re.compile("^200"))
    expect(endpoint.locator("[data-answer] pre")).to_contain_text('"username": "analyst"')
    axe_clean(page)


def test_a_refused_call_shows_the_error(page: Page, complaints) -> None:  # type: ignore[no-untyped-def]
    complaints.forgive("403")
    sign_in(page, "analyst")
    page.goto("/api#people-list")
    endpoint = page.locator("#people-list")
    endpoint.get_by_role("button", name="Send").click()
    expect(endpoint.locator("[data-status]")).to_have_text(re.compile("^403"))
    expect(endpoint.locator("[data-answer] pre")).to_contain_text("role operator")
