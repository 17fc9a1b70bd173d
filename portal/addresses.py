"""Where requests come from, as it is counted: by sign-in, throttles and exports."""

from ipaddress import IPv6Address, IPv6Network, ip_address

from django.http import HttpRequest
from rest_framework.request import Request


def address_of(request: HttpRequest | Request | None) -> str:
    """Where a request came from; for IPv6 the /64 network, since one household has all of it."""
    given = str(request.META.get("REMOTE_ADDR", "")) if request else ""
    try:
        found = ip_address(given)
    except ValueError:
        return given
    if isinstance(found, IPv6Address):
        mapped = found.ipv4_mapped
        return str(mapped or IPv6Network((int(found) >> 64 << 64, 64)))
    return str(found)
