"""The documentation's pages. Public: one may read what Mayfly promises before signing in."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.pages import docs
from portal.pages.docs_search import search

_LONGEST_QUERY = 100
_MOST_SHOWN = 30


@require_safe
def docs_index(request: HttpRequest) -> HttpResponse:
    """The first page, or what a search over all pages finds."""
    query = request.GET.get("q", "").strip()[:_LONGEST_QUERY]
    return _results(request, query) if query else docs_page(request, "index")


@require_safe
def docs_page(request: HttpRequest, slug: str) -> HttpResponse:
    shelf = docs.shelf()
    page = shelf.page(slug)
    if page is None:
        raise Http404(f"The documentation has no page {slug!r}.")
    found = {"page": page, "before": shelf.before(page), "after": shelf.after(page)}
    return render(request, "pages/docs.html", {**_frame(shelf), **found})


def _results(request: HttpRequest, query: str) -> HttpResponse:
    shelf = docs.shelf()
    hits = search(shelf, query)
    found = {"query": query, "total": len(hits), "hits": hits[:_MOST_SHOWN]}
    return render(request, "pages/docs_search.html", {**_frame(shelf), **found})


def _frame(shelf: docs.Shelf) -> dict[str, Any]:
    return {"section": "docs", "groups": shelf.groups()}
