"""Releases as pages: the list, one release with its tables, its card, and its checks."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from portal.releases import selectors
from portal.releases.finding import find_release, find_whole_release
from portal.releases.models import Release
from portal.releases.reading import DOWN, UP, count_suppressed
from portal.releases.showing import TOTAL, Shown, pages
from portal.releases.signing import read_card
from portal.releases.verification import checks_of
from portal.releases.visiting import guests_welcome


@require_safe
@guests_welcome
def releases(request: HttpRequest) -> HttpResponse:
    rows = selectors.releases_for(request.user)
    task = request.GET.get("task", "")
    if task:
        rows = rows.filter(window__task__name=task)
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    return render(
        request, "releases/releases.html", {"section": "releases", "page": page, "task": task}
    )


@require_safe
@guests_welcome
def release(request: HttpRequest, task: str, window: str) -> HttpResponseBase:
    found = find_release(request.user, task, window)
    context = {"section": "releases", "release": found, "card": read_card(found.card)}
    if hasattr(found, "rendering"):
        context |= _tables(request, found)
    return render(request, "releases/release.html", context)


def _tables(request: HttpRequest, release: Release) -> dict[str, Any]:
    shown = Shown(release)
    usual = next((f.name for f in shown.files if f.name == "cells"), TOTAL)
    file = shown.file(request.GET.get("table", usual)) or shown.files[0]
    try:
        layout = shown.layout(file)
        total = shown.total
    except Problem as problem:
        return {"problem": problem, "shown": shown, "file": file}
    column = layout.column(request.GET.get("sort", "")) or layout.columns[0]
    order = UP if request.GET.get("order") == UP else DOWN
    page = pages(file, layout, sort=column.value, order=order).get_page(request.GET.get("page"))
    names = shown.names(layout.keys)
    rows = [
        ([name(value) for name, value in zip(names, row.keys, strict=True)], row)
        for row in page.object_list
    ]
    return {
        "shown": shown,
        "total": total,
        "file": file,
        "layout": layout,
        "page": page,
        "rows": rows,
        "sort": column.value,
        "order": order,
        "with_parts": request.GET.get("parts") == "1",
        "hidden": count_suppressed(file, layout),
    }


@require_safe
@guests_welcome
def release_card(request: HttpRequest, task: str, window: str) -> HttpResponse:
    """The guarantee card by itself, fit for paper."""
    found = find_release(request.user, task, window)
    context = {"section": "releases", "release": found, "card": read_card(found.card)}
    return render(request, "releases/card.html", context)


@require_safe
@guests_welcome
def release_check(request: HttpRequest, task: str, window: str) -> HttpResponse:
    found = find_whole_release(request.user, task, window)
    checks = checks_of(found)
    context = {
        "section": "releases",
        "release": found,
        "checks": checks,
        "failed": sum(not check.holds for check in checks),
    }
    return render(request, "releases/check.html", context)
