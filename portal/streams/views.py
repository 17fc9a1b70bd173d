"""The streams catalog as pages."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from portal.access import login_required
from portal.streams import selectors
from portal.streams.describing import DEVICE_FACTS
from portal.streams.finding import find_domain, find_stream

PAGE_SIZE = 50


@require_safe
@login_required
def streams(request: HttpRequest) -> HttpResponse:
    context = {
        "section": "streams",
        "streams": selectors.streams(),
        "device_facts": DEVICE_FACTS.items(),
        "catalog": selectors.installed_catalog(),
    }
    return render(request, "streams/streams.html", context)


@require_safe
@login_required
def stream(request: HttpRequest, name: str) -> HttpResponse:
    return render(
        request, "streams/stream.html", {"section": "streams", "facts": find_stream(name)}
    )


@require_safe
@login_required
@vary_on_headers("HX-Request")
def domain(request: HttpRequest, name: str, column: str) -> HttpResponse:
    """A domain's values; only the list itself where htmx asks while someone types."""
    facts, found = find_domain(name, column)
    text = request.GET.get("q", "")
    values = selectors.domain_values(domain=found.column.domain or "", text=text)
    context = {
        "section": "streams",
        "facts": facts,
        "found": found,
        "text": text,
        "page": Paginator(values, PAGE_SIZE).get_page(request.GET.get("page")),
        "kind": selectors.kind_of_domain(found.column.domain or ""),
    }
    is_part = request.htmx and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    return render(request, f"streams/{'_values' if is_part else 'domain'}.html", context)
