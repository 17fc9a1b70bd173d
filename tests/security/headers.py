"""What every answer of the portal says to browsers, whatever it answers."""

from collections.abc import Mapping

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
# Made for the frames of other sites: no form, no cookie, public releases.
FRAMED = "/embed"
_POLICY = ("default-src 'self'", "script-src 'self'", "object-src 'none'", "base-uri 'none'")


def problems(headers: Mapping[str, str], address: str, *, signed_in: bool) -> list[str]:
    """What is wrong with the headers of an answer, in words."""
    found = [f"{name} is {headers.get(name)!r}" for name, value in ALWAYS.items()
             if headers.get(name) != value]  # fmt: skip
    policy = headers.get("Content-Security-Policy", "")
    found += [f"the policy lacks {one}" for one in _POLICY if one not in policy]
    found += [f"the policy has {word}" for word in ("unsafe", "http:", "*.") if word in policy]
    if not address.partition("?")[0].endswith(FRAMED):
        found += ["it may be framed"] if "frame-ancestors 'none'" not in policy else []
        found += ["X-Frame-Options"] if headers.get("X-Frame-Options") != "DENY" else []
    cached = headers.get("Cache-Control", "")
    if signed_in and not ("no-store" in cached or "private" in cached):
        found.append(f"Cache-Control is {cached!r}")
    found += [f"it has {name}" for name in ("Server", "X-Powered-By") if name in headers]
    return found
