"""Addresses of a release's pages: by the window's id, or by what people call it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import resolve, reverse

from portal.releases.finding import NotReleasedYet, find_release, window_called
from portal.releases.models import Release

Page = Callable[[HttpRequest, str, str], HttpResponseBase]


def at_its_window(page: Page) -> Page:
    """One that is asked for by its label is at the address of its id; one that is not there yet
    says so to those who may know, guests among them."""

    @wraps(page)
    def visited(request: HttpRequest, task: str, window: str) -> HttpResponseBase:
        try:
            if window_called(window):
                return _moved(request, find_release(request.user, task, window))
            return page(request, task, window)
        except NotReleasedYet as not_yet:
            context = {"section": "releases", "window": not_yet.window}
            return render(request, "releases/not_yet.html", context, status=404)

    return visited


def _moved(request: HttpRequest, release: Release) -> HttpResponseBase:
    window = release.window
    address = reverse(resolve(request.path_info).view_name, args=[window.task.name, window.window])
    query = request.META.get("QUERY_STRING", "")
    return redirect(f"{address}?{query}" if query else address)
