"""The audit page and its export."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.access import role_required
from portal.audit.exports import as_csv, as_json_lines
from portal.audit.forms import AuditForm
from portal.audit.models import Entry
from portal.audit.selectors import entries_matching, latest_verification


@require_safe
@role_required("reviewer", "operator")
def audit(request: HttpRequest) -> HttpResponse:
    return _page(request, AuditForm(request.GET or None))


@require_safe
@role_required("reviewer", "operator")
def audit_export(request: HttpRequest, kind: str) -> HttpResponseBase:
    form = AuditForm(request.GET or None)
    if form.is_bound and not form.is_valid():
        # Not a file with more in it than was asked for: the page, with what does not fit.
        return _page(request, form, status=400)
    entries = entries_matching(form.wanted())
    write, media = (as_csv, "text/csv") if kind == "csv" else (as_json_lines, "application/jsonl")
    response = StreamingHttpResponse(write(entries), content_type=f"{media}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="mayfly-audit.{kind}"'
    return response


def _page(request: HttpRequest, form: AuditForm, *, status: int = 200) -> HttpResponse:
    wrong = form.is_bound and not form.is_valid()
    entries = Entry.objects.none() if wrong else entries_matching(form.wanted())
    context = {
        "section": "audit",
        "form": form,
        "wrong": wrong,
        "page": Paginator(entries, 50).get_page(request.GET.get("page")),
        "verification": latest_verification(),
        "filtered": bool(form.is_bound and any(form.data.get(f) for f in form.fields)),
    }
    return render(request, "audit/audit.html", context, status=status)
