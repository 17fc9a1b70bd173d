"""All pages of the portal, so that no test about every page forgets one.

Pages without arguments are found by themselves. A page with arguments needs an example below; an
address that is no page (it takes a form, or gives a file or a fragment) is named in NOT_PAGES.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver, reverse
from playwright.sync_api import Page


@dataclass(frozen=True)
class Follow:
    """An address that only the running system knows: the first link of this form on a page."""

    start: str
    link: str

    def __str__(self) -> str:
        return f"{self.link} on {self.start}"


EXAMPLES: dict[str, list[str | Follow]] = {
    "country": ["/countries/FR"],
    "docs_page": ["/docs/flow", "/docs/data-model", "/docs/settings"],
    "domain": ["/streams/trips/domains/region", "/streams/trips/domains/activity"],
    "place": ["/places/2988507"],
    "person": [Follow("/people", "main a[href^='/people/']:not([href$='/add'])")],
    "stream": ["/streams/trips", "/streams/assistant"],
}

# More of a page than its plain address shows.
VIEWS = [
    "/docs?q=window",
    "/docs?q=nosuchword",
    "/audit?action=sign_in.accepted",
    "/audit?page=2",
    "/fleet?by=week",
    "/places?q=san",
    "/places?q=nosuchplace",
    "/streams/trips/domains/region?q=xyzzyq",
    "/streams/trips/domains/country?q=s",
]

NOT_PAGES = {
    "now",
    "audit_csv",
    "audit_jsonl",
    "ask_clip",
    "ask_scales",
    "ask_study",
    "cancel_study",
    "comment_on_task",
    "deactivate_person",
    "decide",
    "deliveries_retry_all",
    "delivery_retry",
    "duplicate_task",
    "edit_task",  # for analysts: test_editor looks at it
    "editor_check",
    "editor_document",
    "editor_format",
    "editor_panel",
    "editor_save",
    "editor_statements",
    "editor_values",
    "end_task",
    "export_study",
    "fleet_live",
    "follow_task",
    "load_study",
    "logout",
    "metrics",
    "new_task",  # for analysts: test_editor looks at it
    "notification_open",
    "notification_read",
    "notifications_read_all",
    "notifications_unread",
    "on_devices",  # test_on_phones looks at it
    "pause_task",
    "reactivate_person",
    "ready",
    "chart_embed",  # test_releases and test_browsing look at these
    "latest_release",
    "map_embed",
    "release",
    "release_card",
    "release_check",
    "release_dictionary",
    "release_map",
    "release_table",
    "chart_file",
    "map_file",
    "release_feed",
    "release_file",
    "release_key",
    "reset_password",
    "resolve_thread",
    "resume_task",
    "review_revision",  # test_tasks looks at it
    "revoke_token",
    "sessions_live",
    "study",  # test_lab looks at it
    "switch_role",
    "task",  # test_tasks looks at it
    "theme",
    "unresolve_thread",
    "use_calibration",
    "use_study",
    "withdraw_task",
}

GUEST_PAGES = ["/", "/login", "/docs", "/health", "/releases", "/places", "/emissions"]


def page_patterns() -> Iterator[URLPattern]:
    """Every named pattern outside the API that is a page."""
    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, URLResolver) or not pattern.name:
            continue
        if pattern.name not in NOT_PAGES:
            yield pattern


def takes_arguments(pattern: URLPattern) -> bool:
    return bool(pattern.pattern.converters)


def examples() -> list[str | Follow]:
    """Every page, and more of some; an operator may see them all."""
    found: list[str | Follow] = []
    for pattern in page_patterns():
        if takes_arguments(pattern):
            found += EXAMPLES.get(str(pattern.name), [])
        else:
            found.append(reverse(str(pattern.name)))
    return [example for example in [*found, *VIEWS] if example != "/login"]


def address_of(page: Page, example: str | Follow) -> str:
    if isinstance(example, str):
        return example
    page.goto(example.start)
    link = page.locator(example.link).first.get_attribute("href")
    assert link, f"{example.start} has no link {example.link}."
    return link
