"""`make audit` never passes in silence: without an answer nothing was checked."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace

import pytest
import requests
from packaging.version import Version
from pip_audit._service import ResolvedDependency, SkippedDependency

from tests.audit import UNCHECKED, Pages, told

A = ResolvedDependency(name="a", version=Version("1.0"))
B = ResolvedDependency(name="b", version=Version("2.0"))
C = SkippedDependency(name="c", skip_reason="not found")


@pytest.mark.parametrize("audited", [[], [(C, [])]])
def test_without_an_answer_it_says_so(audited, capsys):
    """On a closed network pip-audit skips every package, and says that none has a fault."""
    assert told(audited) == 2
    assert capsys.readouterr().err == UNCHECKED + "\n"


def test_a_known_fault_is_told_with_what_mends_it(capsys):
    fault = SimpleNamespace(id="PYSEC-1", fix_versions=[Version("1.1")])
    assert told([(B, []), (A, [fault])]) == 1
    assert capsys.readouterr().out == (
        "a 1.0: PYSEC-1, mended in 1.1.\nmayfly: 2 of 2 packages checked.\n"
    )


def test_all_well_says_how_many_were_looked_at(capsys):
    assert told([(A, [])]) == 0
    assert capsys.readouterr().out == "mayfly: 1 of 1 packages checked.\n"


def test_what_could_not_be_looked_at_is_named(capsys):
    assert told([(A, []), (C, [])]) == 1
    assert "c could not be checked." in capsys.readouterr().out


@contextmanager
def index_of(pages: dict[str, dict[str, str]]) -> Iterator[str]:
    """The address of an index with these pages, by path."""

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path)
            self.send_response(200 if page else 404)
            self.end_headers()
            self.wfile.write(json.dumps({"info": page}).encode())

        def log_message(self, *_: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("pages", "told_by"),
    [
        ({"/a/1.0/json": {"version": "1.0"}, "/a/json": {"version": "1.1"}}, "/a/1.0/json"),
        ({"/a/json": {"version": "1.0"}}, "/a/json"),
        ({"/a/json": {"version": "1.1"}}, None),
        ({}, None),
    ],
)
def test_the_page_of_a_project_answers_for_its_newest_version_alone(pages, told_by):
    """Some indexes have no page for each version. What is known of another version says nothing."""
    with index_of(pages) as address, requests.Session() as session:
        answer = Pages(session).get(f"{address}/a/1.0/json", timeout=5)
    assert answer.ok == (told_by is not None)
    if told_by:
        assert answer.url == address + told_by
