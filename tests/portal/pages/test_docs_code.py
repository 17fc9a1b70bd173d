"""Code in the documentation that is marked `python checked` runs and does what the page says."""

import time
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model

from aggregation.clock import Clock
from aggregation.protocol.streams import Catalog
from portal.audit.exports import as_json_lines
from portal.audit.models import Entry
from portal.audit.services import Change, record
from portal.notifications.webhook import signature
from portal.pages import docs
from tests.portal.pages.reading_docs import fences

_RUN_HERE = {
    "windows",
    "clock",
    "audit",
    "streams",
    "notifications",
    "task-spec",
    "device-protocol",
}


def blocks(page: str) -> list[str]:
    return [block.content for block in fences(page, "python checked")]


def run(page: str) -> dict[str, Any]:
    """Run the page's blocks in the current folder; what they define comes back."""
    names: dict[str, Any] = {}
    for block in blocks(page):
        exec(compile(block, f"{page}.md", "exec"), names)  # noqa: S102 - our own documentation
    return names


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_page_with_code_is_run_here() -> None:
    with_code = {page.slug for page in docs.shelf().pages if blocks(page.slug)}
    assert with_code == _RUN_HERE


@pytest.mark.parametrize("page", ["windows", "clock", "device-protocol"])
def test_the_examples_run(page: str) -> None:
    assert run(page)


@pytest.fixture
def export(db: None, tmp_path: Path, clock: Clock) -> Path:
    ada = get_user_model().objects.create_user("ada", password="correct horse battery")
    for number in range(3):
        changes = [Change("name", f"„{number}“", None), Change("count", number, number + 1)]
        record(action="person.changed", subject=ada, actor=ada, clock=clock, changes=changes)
    record(action="person.counted", subject=ada, clock=clock)
    path = tmp_path / "mayfly-audit.jsonl"
    path.write_text(_exported(), encoding="utf-8")
    return path


@async_to_sync
async def _exported() -> str:
    return "".join([part async for part in as_json_lines(Entry.objects.all())])


def test_an_export_of_the_audit_log_verifies_by_hand(
    export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("audit")
    newest = Entry.objects.order_by("-seq").first()
    assert newest is not None
    assert f"{newest.seq} entries, sound" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("tamper", "complaint"),
    [
        (lambda lines: [lines[0].replace("ada", "bob"), *lines[1:]], "was changed"),
        (lambda lines: [lines[0], *lines[2:]], "is missing"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "is missing"),
    ],
)
def test_a_changed_export_does_not_verify(export: Path, tamper: Any, complaint: str) -> None:
    lines = export.read_text(encoding="utf-8").splitlines(keepends=True)
    export.write_text("".join(tamper(lines)), encoding="utf-8")
    with pytest.raises(AssertionError, match=complaint):
        run("audit")


def test_the_recipe_gives_every_domain_its_name(catalog: Catalog, tmp_path: Path) -> None:
    catalog.write(tmp_path / "streams")
    assert run("streams")["path"].suffix == ".npy"


def test_the_recipe_notices_a_changed_domain(catalog: Catalog, tmp_path: Path) -> None:
    catalog.write(tmp_path / "streams")
    one, other = sorted((tmp_path / "streams" / "domains").glob("*.npy"))[:2]
    one.write_bytes(other.read_bytes())
    with pytest.raises(AssertionError):
        run("streams")


def test_a_receiver_tells_our_calls_from_others() -> None:
    genuine = run("notifications")["genuine"]
    now, secret, body = int(time.time()), "s" * 32, '{"title":"Grüße"}'.encode()
    header = signature(secret=secret, at=now, body=body)
    assert genuine(secret, header, body)
    assert not genuine(secret, header, body + b" ")
    assert not genuine("t" * 32, header, body)
    assert not genuine(secret, header.replace(str(now), str(now - 1)), body)
    assert not genuine(secret, signature(secret=secret, at=now - 600, body=body), body)


def test_the_example_spec_has_the_hash_it_should_have(tmp_path: Path) -> None:
    example, _part = fences("task-spec", "yaml")
    (tmp_path / "assistant-outcomes.yaml").write_text(example.content)
    assert run("task-spec")["spec"].name == "assistant-outcomes"
