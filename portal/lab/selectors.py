"""Reading studies."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404

from portal.lab.models import Study


def studies() -> QuerySet[Study]:
    """Without their results, which may be long; the newest first."""
    return Study.objects.select_related("asked_by").defer("result")


def find_study(pk: int) -> Study:
    known = Study.objects.select_related("asked_by")
    found = known.filter(pk=pk).first() if pk < 2**63 else None
    if found is None:
        raise Http404("There is no such study.")
    return found


def next_waiting() -> Study | None:
    """The one to run next; nothing while another runs."""
    if Study.objects.filter(state=Study.State.RUNNING).exists():
        return None
    return studies().filter(state=Study.State.WAITING).order_by("asked_at", "pk").first()


def lapsed() -> QuerySet[Study]:
    """Studies that gave no sign of life for so long that whoever ran them is dead."""
    since = datetime.now(UTC) - timedelta(seconds=settings.SESSION_LAPSE_SECONDS)
    return studies().filter(state=Study.State.RUNNING, alive_at__lt=since)


def place_in_line(study: Study) -> int:
    """How many studies are before this one."""
    under_way = Study.objects.filter(state__in=Study.UNDER_WAY, asked_at__lt=study.asked_at)
    return under_way.exclude(pk=study.pk).count()


def alike(study: Study) -> QuerySet[Study]:
    """Other studies of the kind that have a result."""
    return studies().filter(kind=study.kind, state=Study.State.DONE).exclude(pk=study.pk)
