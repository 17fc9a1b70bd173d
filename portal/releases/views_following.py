"""The button to be told of a task's releases, or no longer."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from portal.access import login_required
from portal.accounts.requests import PersonRequest
from portal.releases.following import set_following


@require_POST
@login_required
def follow_task(request: PersonRequest, task: str) -> HttpResponse:
    on = set_following(person=request.user, task=task, on=request.POST.get("on") == "1")
    told = "You will be told" if on else "You will not be told any longer"
    messages.success(request, f"{told} when a release of {task} is out.")
    return redirect(f"{reverse('releases')}?{urlencode({'task': task})}")
