"""The documentation: Markdown files in templates/docs, in the order of one table."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from django.conf import settings

from portal.pages.docs_markdown import Document, address, read


@dataclass(frozen=True)
class Group:
    """A part of the table of contents: its title and its pages' file names, in order."""

    title: str
    slugs: tuple[str, ...]


CONTENTS = (
    Group("Start here", ("index", "running", "first-release", "simulated-phones", "flow")),
    Group("In the portal", ("people", "streams", "notifications", "audit", "api")),
    Group("Asking", ("task-spec", "sql-rules", "tasks", "calibration")),
    Group("Answers", ("reading-a-release", "browsing", "releases", "client", "verify-a-release")),
    Group("Evidence", ("lab", "evaluation", "faults")),
    Group(
        "Ideas",
        ("windows", "clock", "sessions", "fleet", "threat-model", "security", "glossary"),
    ),
    Group(
        "Reference",
        ("settings", "data-model", "device-protocol", "made-up-world", "simulation"),
    ),
    Group("Operating", ("installing", "operations", "overview", "logs", "metrics", "scaling")),
)


@dataclass(frozen=True)
class Page:
    slug: str
    group: str
    document: Document

    @property
    def title(self) -> str:
        return self.document.title

    @property
    def summary(self) -> str:
        return self.document.summary

    @property
    def url(self) -> str:
        return address(self.slug)


@dataclass(frozen=True)
class Shelf:
    """All pages, in the order in which one would read them."""

    pages: tuple[Page, ...]

    def page(self, slug: str) -> Page | None:
        return next((page for page in self.pages if page.slug == slug), None)

    def groups(self) -> list[tuple[str, list[Page]]]:
        return [(g.title, [p for p in self.pages if p.group == g.title]) for g in CONTENTS]

    def before(self, page: Page) -> Page | None:
        return next((a for a, b in pairwise(self.pages) if b is page), None)

    def after(self, page: Page) -> Page | None:
        return next((b for a, b in pairwise(self.pages) if a is page), None)


def folder() -> Path:
    return Path(settings.BASE_DIR) / "templates" / "docs"


def shelf() -> Shelf:
    """Read afresh when a file has changed, else from memory."""
    return _shelf(
        tuple((_path(s).stat().st_mtime_ns, s, g.title) for g in CONTENTS for s in g.slugs)
    )


@lru_cache(maxsize=1)
def _shelf(files: tuple[tuple[int, str, str], ...]) -> Shelf:
    return Shelf(
        tuple(Page(slug, group, read(_path(slug).read_text())) for _, slug, group in files)
    )


def _path(slug: str) -> Path:
    return folder() / f"{slug}.md"
