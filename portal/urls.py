"""All addresses. Each app brings its own pages and its own part of the API."""

from django.urls import include, path, re_path

from portal.accounts import urls as accounts
from portal.api import UnknownAddress
from portal.audit import urls as audit
from portal.collection import urls as collection
from portal.lab import urls as lab
from portal.lab.on_devices import urls as on_devices
from portal.ledger import urls as ledger
from portal.notifications import urls as notifications
from portal.pages import docs_urls as docs
from portal.pages import urls as pages
from portal.releases import urls as releases
from portal.streams import urls as streams
from portal.tasks import urls as tasks

urlpatterns = [
    *pages.urlpatterns,
    *docs.urlpatterns,
    *on_devices.urlpatterns,
    *lab.urlpatterns,
    *releases.urlpatterns,
    *tasks.urlpatterns,
    *collection.urlpatterns,
    *ledger.urlpatterns,
    *streams.urlpatterns,
    *notifications.urlpatterns,
    *accounts.urlpatterns,
    *audit.urlpatterns,
    path("api/v1/", include([
        *lab.api_urlpatterns,
        *releases.api_urlpatterns,
        *collection.api_urlpatterns,
        *tasks.api_urlpatterns,
        *ledger.api_urlpatterns,
        *streams.api_urlpatterns,
        *notifications.api_urlpatterns,
        *accounts.api_urlpatterns,
        *audit.api_urlpatterns,
    ])),
    re_path("^api/v1(/|$)", UnknownAddress.as_view()),
]  # fmt: skip

handler400 = "portal.pages.errors.bad_request"
handler403 = "portal.pages.errors.permission_denied"
handler404 = "portal.pages.errors.page_not_found"
handler500 = "portal.pages.errors.server_error"
