"""Titles, bodies and links as they are stored: one line, plain text, a path on this site.

Titles may hold what people typed (names of tokens and tasks) and become e-mail subjects: a line
break in one would be a header of its own, a control character could hide or turn round the rest.
"""

import re

from aggregation.errors import Problem

TITLE_LENGTH = 200
BODY_LENGTH = 2000
LINK_LENGTH = 500

# C0 and C1 controls, line separators, and the characters that turn the direction of writing.
_CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_IN_TITLES = re.compile(f"[{_CONTROLS}\\s]+")
_IN_BODIES = re.compile(f"(?!\n)[{_CONTROLS}]")
# One slash, then only characters that a URL may hold: browsers drop line breaks and read a
# backslash as a slash, so that «/\n/elsewhere» and «/\elsewhere» would leave the site.
_OWN_PATH = re.compile(r"/(?!/)[A-Za-z0-9\-._~!$&'()*+,;=:@/%?#]*")


def title_of(text: str) -> str:
    """One line without control characters, short enough for a subject."""
    line = _shortened(_IN_TITLES.sub(" ", text).strip(), TITLE_LENGTH)
    if not line:
        raise Problem("A notification has an empty title.", hint="Say in a few words what is new.")
    return line


def body_of(text: str) -> str:
    """Plain text; its line breaks stay."""
    return _shortened(_IN_BODIES.sub("", text.replace("\r\n", "\n")).strip(), BODY_LENGTH)


def own_path(link: str) -> str:
    """The link, if it cannot lead anywhere but to this site."""
    if len(link) > LINK_LENGTH or not _OWN_PATH.fullmatch(link):
        raise Problem(
            f"A notification cannot link to {link[:100]!r}.",
            hint="Give a path on this site, such as /streams/trips.",
        )
    return link


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
