"""The front end's entry point: Django for people, and beside it the device API."""

import os
import warnings

from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
_django = get_asgi_application()

from portal.body_limit import BodyLimit  # noqa: E402
from portal.device_api.application import DeviceApi  # noqa: E402 - its models need Django set up

# Static files are small, and hashed ones are asked for once: each is read whole.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")

_portal = BodyLimit(_django, most=settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
application = DeviceApi(beside=_portal)
