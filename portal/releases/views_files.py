"""Downloads: the files that were signed for, the manifest and its signature, and exports."""

import hashlib
from collections.abc import Callable, Iterator

import msgspec
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from aggregation.release.manifest import public_pem
from portal.problems import AllBusy
from portal.releases import exports
from portal.releases.citing import bibtex, citation
from portal.releases.dictionary import dictionary_document
from portal.releases.files import TableFile
from portal.releases.filtering import Filter
from portal.releases.finding import find_release
from portal.releases.models import Release
from portal.releases.opening import NotYet, OpenTable, open_table, opened
from portal.releases.parquet import as_parquet
from portal.releases.rendering import CARD, MANIFEST, SIGNATURE
from portal.releases.sending import Sending
from portal.releases.signing import release_public_keys
from portal.releases.visiting import guests_welcome
from portal.streams.gazetteer import edition

DICTIONARY, CITATION, BIBTEX = "dictionary.json", "citation.txt", "citation.bib"
PARQUET, GEOJSON = ".parquet", ".geojson"
KINDS: dict[str, tuple[exports.Make, str]] = {
    PARQUET: (as_parquet, "application/vnd.apache.parquet"),
    ".csv": (exports.as_csv, "text/csv; charset=utf-8"),
    ".json": (exports.as_json, "application/json"),
    GEOJSON: (exports.as_geojson, "application/geo+json"),
}
# Goes up with every change of what exports look like.
_FORMAT = 2
_TEXT = "text/plain; charset=utf-8"
Write = Callable[[Release], str | bytes]
SMALL: dict[str, tuple[Write, str]] = {
    MANIFEST: (lambda release: release.rendering.manifest, "application/json"),
    SIGNATURE: (
        lambda release: bytes.fromhex(release.rendering.signature),
        "application/octet-stream",
    ),
    CARD: (lambda release: release.card, "application/json"),
    DICTIONARY: (
        lambda release: msgspec.json.encode(dictionary_document(release)),
        "application/json",
    ),
    CITATION: (lambda release: citation(release) + "\n", _TEXT),
    BIBTEX: (bibtex, "application/x-bibtex; charset=utf-8"),
}


@require_safe
@guests_welcome
def release_file(request: HttpRequest, task: str, window: str, name: str) -> HttpResponseBase:
    found = find_release(request.user, task, window)
    try:
        return file_answer(request, found, name)
    except NotYet as problem:
        headers = {"Retry-After": "5"}
        return HttpResponse(f"{problem}\n", status=503, headers=headers, content_type=_TEXT)
    except AllBusy as problem:
        headers = {"Retry-After": str(problem.wait_seconds)}
        return HttpResponse(
            f"{problem}\n", status=problem.status, headers=headers, content_type=_TEXT
        )
    except Problem as problem:
        return HttpResponse(f"{problem}\n", status=400, content_type=_TEXT)


@require_safe
def release_key(request: HttpRequest) -> HttpResponse:
    """The public keys that releases of this system are checked with; the one in use first."""
    keys = b"".join(map(public_pem, release_public_keys()))
    return HttpResponse(keys, content_type="application/x-pem-file")


def file_answer(request: HttpRequest, release: Release, name: str) -> HttpResponseBase:
    """A file of a release, or the rows of a table that the address asks for."""
    opened(release)
    if name in SMALL:
        write, media = SMALL[name]
        return _named(HttpResponse(write(release), content_type=media), name)
    stem, dot, ending = name.rpartition(".")
    if dot + ending not in KINDS:
        raise Http404(f"This release has no file {name}.")
    table = open_table(release, stem)
    if dot + ending == GEOJSON and not table.region_key:
        raise Http404(f"The table {stem} has no places, so there is no {name}.")
    asked = Filter.parse(request.GET, table.layout).on_page(1)
    return _export(request, table, asked, name)


def _export(request: HttpRequest, table: OpenTable, asked: Filter, name: str) -> HttpResponseBase:
    """Once somebody has these rows, they need not be sent again: a release never changes."""
    make, media = KINDS[name[name.rindex(".") :]]
    tag = _tag(table.layout.file, name, asked)
    unchanged = get_conditional_response(request, etag=tag)
    if unchanged is not None:
        return unchanged
    parts = Sending(_source(table, asked, make), request)
    saved = _saved_as(table, asked, name)
    response = _named(StreamingHttpResponse(parts, content_type=media), saved)
    response["ETag"] = tag
    patch_cache_control(response, private=True, no_cache=True)
    return response


def _saved_as(table: OpenTable, asked: Filter, name: str) -> str:
    """The signed file has the name that the manifest gives it; what is made of it, one that says of
    which release it is, and whether it is some of the rows."""
    if name.endswith(PARQUET) and asked.is_everything:
        return name
    stem, _, ending = name.rpartition(".")
    some = "" if asked.is_everything else "_some"
    return f"{table.release.window.task.name}_{table.release.window.window}_{stem}{some}.{ending}"


def _source(table: OpenTable, asked: Filter, make: exports.Make) -> Iterator[bytes]:
    if make is as_parquet and asked.is_everything:
        return exports.as_it_is(table.layout.file.path)
    return make(table, asked)


def _tag(file: TableFile, name: str, asked: Filter) -> str:
    """Of the file's hash in the manifest, of the rows, and of how they are written: the names of
    places beside them are those that are installed now."""
    what = f"{_FORMAT}\n{file.sha256}\n{name}\n{asked.querystring()}\n{edition()}"
    return f'"{hashlib.sha256(what.encode()).hexdigest()[:32]}"'


def _named(response: HttpResponseBase, name: str) -> HttpResponseBase:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
