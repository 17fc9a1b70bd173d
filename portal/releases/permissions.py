"""Who may ask the API about releases."""

from django.conf import settings
from rest_framework.request import Request

from portal.access import SignedIn


class SignedInOrPublic(SignedIn):
    """Guests as well, where there are public releases; what they find is another matter."""

    def has_permission(self, request: Request, view: object) -> bool:
        if request.user and request.user.is_authenticated:
            return super().has_permission(request, view)
        return bool(settings.PUBLIC_RELEASES)
