"""What Django's middleware does for the portal, for devices: known hosts, HTTPS only, HSTS.

A device is not redirected to HTTPS: what it sent in clear has been sent, and it should be told.
"""

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from aggregation.protocol.messages import Code
from portal.body_limit import Scope
from portal.device_api.answers import Headers, Refusal

# A name of 253 letters and a port; what is longer is no host, and not remembered.
_LONGEST_HOST = 260
# Spellings of our own hosts, with ports: there are few, unless someone makes them up.
_MOST_KNOWN = 64


class Transport:
    def __init__(self) -> None:
        self._https_only = settings.SECURE_SSL_REDIRECT
        self._hsts = _hsts()
        # Schemes and hosts that were found in order: few and short.
        self.known: set[tuple[str, bytes]] = set()

    def check(self, scheme: str, host: bytes) -> None:
        if (scheme, host) in self.known:
            return
        if len(host) > _LONGEST_HOST or not _is_ours(host):
            message = "The request asks for a host that is not this one."
            raise Refusal(400, Code.WRONG_HOST, message, "Operators name hosts in MAYFLY_HOSTS.")
        if self._https_only and scheme != "https":
            message = "Devices are answered over HTTPS only."
            raise Refusal(403, Code.HTTPS_NEEDED, message, "Use https://.")
        if len(self.known) < _MOST_KNOWN:
            self.known.add((scheme, host))

    def headers(self, scope: Scope) -> Headers:
        return self._hsts if scope["scheme"] == "https" else ()


def _is_ours(host: bytes) -> bool:
    domain, _port = split_domain_port(host.decode("latin-1"))
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _hsts() -> Headers:
    """As Django's own middleware says it."""
    if not settings.SECURE_HSTS_SECONDS:
        return ()
    value = f"max-age={settings.SECURE_HSTS_SECONDS}"
    value += "; includeSubDomains" if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS else ""
    value += "; preload" if settings.SECURE_HSTS_PRELOAD else ""
    return ((b"strict-transport-security", value.encode()),)
