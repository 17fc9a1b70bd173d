"""The documentation holds together: links resolve, commands exist, nothing is orphaned."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands
from django.urls import Resolver404, resolve
from markdown_it.token import Token

from portal.environment import KNOBS
from portal.pages import docs
from portal.pages.docs_markdown import parser, read, slug

BASE = Path(settings.BASE_DIR)
FILES = [*sorted(docs.folder().glob("*.md")), BASE / "README.md", BASE / "CHANGELOG.md"]
PAGES = [path for path in FILES if path.parent == docs.folder()]
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
every_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


def tokens(path: Path) -> Iterator[Token]:
    for token in parser().parse(path.read_text()):
        yield token
        yield from token.children or ()


def links(path: Path) -> list[str]:
    return [str(t.attrs["href"]) for t in tokens(path) if t.type == "link_open"]


def code(path: Path) -> list[str]:
    """What stands as code: in the line, or in blocks."""
    return [t.content for t in tokens(path) if t.type in ("code_inline", "fence")]


def anchors(path: Path) -> set[str]:
    flat = list(tokens(path))
    return {
        slug("".join(c.content for c in inline.children or ()))
        for opening, inline in itertools.pairwise(flat)
        if opening.type == "heading_open"
    }


def test_no_page_is_orphaned_and_none_is_missing() -> None:
    listed = [slug for group in docs.CONTENTS for slug in group.slugs]
    assert sorted(listed) == sorted(path.stem for path in PAGES)


@every_page
def test_every_page_has_a_title_and_a_summary_of_one_sentence(path: Path) -> None:
    document = read(path.read_text())
    assert document.title
    assert document.summary.endswith(".")
    assert len(document.summary) <= 120
    assert len(document.sections) > 1, "A page has sections."


@every_page
def test_headings_are_unique_and_go_down_one_level_at_a_time(path: Path) -> None:
    headings = read(path.read_text()).headings
    twice = [anchor for anchor, n in Counter(h.anchor for h in headings).items() if n > 1]
    assert not twice
    levels = [1, *(heading.level for heading in headings)]
    assert all(1 < b <= a + 1 for a, b in itertools.pairwise(levels))


@every_file
def test_every_link_resolves(path: Path) -> None:
    broken = [link for link in links(path) if not _leads_somewhere(path, link)]
    assert not broken


def _leads_somewhere(path: Path, link: str) -> bool:
    if link.startswith("https://"):
        return True
    target, _hash, anchor = link.partition("#")
    if target.startswith("/"):
        return _is_address(target)
    file = (path.parent / target) if target else path
    if not file.exists():
        return False
    return not anchor or (file.suffix == ".md" and anchor in anchors(file))


def _is_address(target: str) -> bool:
    try:
        resolve(target.partition("?")[0])
    except Resolver404:
        return False
    return True


@every_page
def test_every_address_that_is_named_exists(path: Path) -> None:
    """Code such as `/api/v1/tokens/<id>` names an address of ours."""
    named = [c for c in code(path) if re.fullmatch(r"/[a-z][\w/.<>-]*", c)]
    ours = [c for c in named if not c.startswith(("/tmp", "/path", "/opt", "/etc"))]
    assert [c for c in ours if not _is_address(re.sub(r"<[^>]+>", "1", c))] == []


@every_file
def test_every_make_target_that_is_named_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (BASE / "Makefile").read_text(), re.MULTILINE))
    named = {name for text in code(path) for name in re.findall(r"\bmake ([a-z]+)", text)}
    assert named <= targets


@every_file
def test_every_command_that_is_named_exists(path: Path) -> None:
    named = {n for text in code(path) for n in re.findall(r"manage\.py ([a-z_]+)", text)}
    assert named <= set(get_commands())


@every_file
def test_every_knob_that_is_named_exists(path: Path) -> None:
    assert set(re.findall(r"\bMAYFLY_[A-Z_]*[A-Z]\b", path.read_text())) <= set(KNOBS)


@every_file
def test_every_file_that_is_named_exists(path: Path) -> None:
    tops = "aggregation|portal|templates|static|tests|devices_sim"
    named = [c.rstrip("/") for c in code(path) if re.fullmatch(rf"({tops})/[\w/.-]*", c)]
    assert [name for name in named if not (BASE / name).exists()] == []


@every_file
def test_no_file_names_this_machine(path: Path) -> None:
    text = path.read_text()
    assert not re.findall(r"/(?:work|home|root|Users)/", text)
    assert str(BASE) not in text


def test_the_readme_is_short() -> None:
    assert len((BASE / "README.md").read_text().splitlines()) < 150
