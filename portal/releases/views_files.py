"""Downloads: the files that were signed for, the manifest and its signature, and exports."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from aggregation.release.manifest import public_pem
from portal.releases import exports
from portal.releases.files import TableFile, is_intact, table_file
from portal.releases.finding import find_release
from portal.releases.models import Release
from portal.releases.rendering import CARD, MANIFEST, SIGNATURE
from portal.releases.signing import release_public_key
from portal.releases.visiting import guests_welcome

Write = Callable[[Path], AsyncIterator[bytes]]
KINDS: dict[str, tuple[Write, str]] = {
    ".parquet": (exports.as_it_is, "application/vnd.apache.parquet"),
    ".csv": (exports.as_csv, "text/csv; charset=utf-8"),
    ".json": (exports.as_json, "application/json"),
}


@require_safe
@guests_welcome
def release_file(request: HttpRequest, task: str, window: str, name: str) -> HttpResponseBase:
    found = find_release(request.user, task, window)
    if not hasattr(found, "rendering"):
        return HttpResponse(
            "The files of this release are being made. Try again in a moment.\n",
            status=503,
            headers={"Retry-After": "5"},
            content_type="text/plain; charset=utf-8",
        )
    small = _small(found, name)
    return _named(small, name) if small else _table(found, name)


@require_safe
def release_key(request: HttpRequest) -> HttpResponse:
    """The public key that every release of this system is checked with."""
    return HttpResponse(public_pem(release_public_key()), content_type="application/x-pem-file")


def _small(release: Release, name: str) -> HttpResponse | None:
    match name:
        case _ if name == MANIFEST:
            return HttpResponse(release.rendering.manifest, content_type="application/json")
        case _ if name == SIGNATURE:
            signature = bytes.fromhex(release.rendering.signature)
            return HttpResponse(signature, content_type="application/octet-stream")
        case _ if name == CARD:
            return HttpResponse(release.card, content_type="application/json")
    return None


def _table(release: Release, name: str) -> HttpResponseBase:
    stem, dot, ending = name.rpartition(".")
    file = table_file(release, stem)
    if file is None or dot + ending not in KINDS:
        raise Http404(f"This release has no file {name}.")
    if not is_intact(file):
        return _damaged(file)
    write, media = KINDS[dot + ending]
    return _named(StreamingHttpResponse(write(file.path), content_type=media), name)


def _named(response: HttpResponseBase, name: str) -> HttpResponseBase:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _damaged(file: TableFile) -> HttpResponse:
    return HttpResponse(
        f"{file.file} is not as it was signed for, so it is not given out. "
        "It is made again shortly.\n",
        status=503,
        headers={"Retry-After": "10"},
        content_type="text/plain; charset=utf-8",
    )
