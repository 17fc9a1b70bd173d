"""What the columns of a release mean, and how to cite it, as a page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from portal.releases.citing import bibtex, citation
from portal.releases.dictionary import columns_of, dictionary_of
from portal.releases.finding import find_release
from portal.releases.opening import opened
from portal.releases.signing import read_card
from portal.releases.visiting import guests_welcome


@require_safe
@guests_welcome
def release_dictionary(request: HttpRequest, task: str, window: str) -> HttpResponse:
    found = find_release(request.user, task, window)
    context = {
        "section": "releases",
        "release": found,
        "card": read_card(found.card),
        "citation": citation(found),
        "bibtex": bibtex(found),
    }
    try:
        tables = dictionary_of(found)
        context |= {
            "tables": tables,
            "columns": columns_of(tables),
            "intervals": opened(found).intervals,
        }
    except Problem as problem:
        context["problem"] = problem
    return render(request, "releases/dictionary.html", context)
