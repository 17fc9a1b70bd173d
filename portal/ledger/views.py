"""The ledger as a page."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.access import role_required
from portal.accounts.models import Role
from portal.clock import civil_clock
from portal.ledger import selectors
from portal.ledger.forms import LedgerForm
from portal.ledger.selectors import WeekFacts

# What was spent of late is seen beside what is reserved.
_WEEKS_BACK = 4


@dataclass(frozen=True)
class Shown:
    """One stream's weeks."""

    stream: str
    weeks: list[WeekFacts]

    @property
    def is_charged(self) -> bool:
        return any(week.shares for week in self.weeks)


@require_safe
@role_required(Role.ANALYST, Role.REVIEWER, Role.OPERATOR)
def ledger(request: HttpRequest) -> HttpResponse:
    now = civil_clock().now()
    form = LedgerForm(request.GET, now=now, weeks_back=_WEEKS_BACK)
    found = selectors.ledger(
        streams=form.streams(), first=form.first_monday(), weeks=form.how_many()
    )
    context = {
        "section": "ledger",
        "form": form,
        "streams": [Shown(stream, weeks) for stream, weeks in found.items()],
        "this_monday": selectors.monday_before(now),
    }
    return render(request, "ledger/ledger.html", context)
