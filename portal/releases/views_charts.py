"""Charts and maps by themselves: as files to keep, and as pages for the frames of other sites."""

from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from portal.charts import standalone
from portal.releases.browsing.best import asked_chart
from portal.releases.browsing.charting import Chart
from portal.releases.browsing.embedding import said_of
from portal.releases.browsing.history import tables_before
from portal.releases.browsing.mapping import Map, MapView, map_of
from portal.releases.browsing.tables import Tables
from portal.releases.citing import source
from portal.releases.finding import find_release
from portal.releases.models import Release
from portal.releases.showing import Shown
from portal.releases.visiting import guests_welcome


@require_safe
@guests_welcome
def chart_file(request: HttpRequest, task: str, window: str, kind: str) -> HttpResponseBase:
    """`chart.svg` or `map.svg`, with its own colours, light or dark."""
    found = find_release(request.user, task, window)
    try:
        drawn = _drawn(request, found, kind)
    except Problem as problem:
        return _refused(problem)
    dark = request.GET.get("theme") == "dark"
    svg = standalone(drawn.svg(), dark=dark, source=source(found))
    response = HttpResponse(svg, content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="{task}-{window}-{kind}.svg"'
    return response


@require_safe
@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"], "form-action": ["'none'"]})
@guests_welcome
def embedded(request: HttpRequest, task: str, window: str, kind: str) -> HttpResponseBase:
    """Nothing but the chart, its source and its guarantee. No form, no cookie is needed."""
    found = find_release(request.user, task, window)
    page = "release" if kind == "chart" else "release_map"
    context = {"release": found, "kind": kind, "page": reverse(page, args=[task, window])}
    try:
        drawn = _drawn(request, found, kind)
        context |= {"drawn": drawn, "said": said_of(drawn, Tables(Shown(found)))}
    except Problem as problem:
        context["problem"] = problem
    return render(request, "releases/embed.html", context)


def _drawn(request: HttpRequest, release: Release, kind: str) -> Chart | Map:
    if not hasattr(release, "rendering"):
        raise Problem("The tables of this release are being made.", hint="Try again in a moment.")
    tables = Tables(Shown(release))
    if kind == "chart":
        return asked_chart(request.GET, tables)
    view = MapView.parse(request.GET, tables)
    return map_of(view, tables, tables_before(request.user, release))


def _refused(problem: Problem) -> HttpResponse:
    text = f"{problem.message} {problem.hint or ''}".strip()
    return HttpResponse(text + "\n", status=400, content_type="text/plain; charset=utf-8")
