"""Notifications as pages: one's own, what could not be delivered, and the demo's e-mails."""

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from portal.access import login_required, role_required
from portal.accounts.emails import email_is_on
from portal.accounts.models import Role
from portal.accounts.requests import PersonRequest
from portal.clock import civil_clock
from portal.notifications import selectors, services
from portal.notifications.forms import DeliveryFilter, SeenForm
from portal.notifications.models import Notification
from portal.notifications.outbox import KEPT

# htmx stops asking when it is answered with this status.
STOP_POLLING = 286


@require_safe
@login_required
def notifications(request: PersonRequest) -> HttpResponse:
    found = selectors.notifications_of(request.user)
    context = {
        "section": "notifications",
        "page": Paginator(found, 25).get_page(request.GET.get("page")),
        "newest_id": selectors.newest_id(request.user),
    }
    return render(request, "notifications/notifications.html", context)


@require_safe
@login_required
def notification_open(request: PersonRequest, pk: int) -> HttpResponse:
    notification = _own(request, pk)
    services.mark_read(notification=notification)
    return redirect(notification.event.link)


@require_POST
@login_required
def notification_read(request: PersonRequest, pk: int) -> HttpResponse:
    services.mark_read(notification=_own(request, pk))
    return redirect("notifications")


@require_POST
@login_required
def notifications_read_all(request: PersonRequest) -> HttpResponse:
    form = SeenForm(request.POST)
    if form.is_valid():
        services.mark_all_read(person=request.user, up_to=form.cleaned_data["up_to"])
        messages.success(request, "Everything on the list is marked as read.")
    return redirect("notifications")


@require_safe
@never_cache
def notifications_unread(request: HttpRequest) -> HttpResponse:
    """The number on the bell. A bell whose person has signed out falls silent: it neither shows
    the sign-in page nor asks again."""
    person = request.user if request.user.is_authenticated else None
    context = {"unread": selectors.unread_count(person) if person else 0}
    # Without the frame around pages, which would ask the database for more than this number.
    bell = render_to_string("notifications/_unread.html", context)
    return HttpResponse(bell, status=200 if person else STOP_POLLING)


@require_safe
@role_required(Role.OPERATOR)
def deliveries(request: PersonRequest) -> HttpResponse:
    state = DeliveryFilter(request.GET).chosen()
    found = selectors.deliveries_in("" if state == "all" else state)
    context = {
        "section": "notifications",
        "state": state,
        "tabs": selectors.delivery_counts(),
        "page": Paginator(found, 50).get_page(request.GET.get("page")),
        "webhook_on": bool(settings.WEBHOOK_URL),
        "email_on": email_is_on(),
    }
    return render(request, "notifications/deliveries.html", context)


@require_POST
@role_required(Role.OPERATOR)
def delivery_retry(request: PersonRequest, pk: int) -> HttpResponse:
    delivery = get_object_or_404(selectors.deliveries_in(""), pk=pk)
    if services.retry_delivery(delivery=delivery, clock=civil_clock(), actor=request.user):
        messages.success(request, "Queued again. It goes out within a few seconds.")
    else:
        messages.info(request, f"This delivery is {delivery.get_state_display().lower()} already.")
    return redirect("deliveries")


@require_POST
@role_required(Role.OPERATOR)
def deliveries_retry_all(request: PersonRequest) -> HttpResponse:
    number = services.retry_failed_deliveries(clock=civil_clock(), actor=request.user)
    messages.success(request, f"Queued again: {number}. They go out within a few seconds.")
    return redirect("deliveries")


@require_safe
@login_required
def outbox(request: PersonRequest) -> HttpResponse:
    if not settings.DEMO:
        raise Http404("E-mails are shown in the demo only.")
    page = Paginator(selectors.outbox(), 20).get_page(request.GET.get("page"))
    context = {"section": "notifications", "page": page, "kept": KEPT}
    return render(request, "notifications/outbox.html", context)


def _own(request: PersonRequest, pk: int) -> Notification:
    """Somebody else's notification does not exist, as far as this person can tell."""
    return get_object_or_404(selectors.notifications_of(request.user), pk=pk)
