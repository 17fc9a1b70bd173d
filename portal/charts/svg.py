"""SVG as text. Labels are data: everything that enters a tag is escaped here, and only here."""

import re
from hashlib import sha256
from xml.sax.saxutils import quoteattr

# What no XML document may hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SAFE_ADDRESS = re.compile(r"^(https?://|[/?#](?![/\\]))")


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: object) -> Markup:
    """An element. Children that are not Markup are text; attributes that are None are left out.

    A trailing underscore is dropped from attribute names, others become hyphens.
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_clean(_written(value)))}"
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(escape(child) for child in children)
    return Markup(f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>")


def escape(text: str) -> Markup:
    if isinstance(text, Markup):
        return text
    cleaned = _clean(text)
    return Markup(cleaned.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def join(*parts: str) -> Markup:
    return Markup("".join(escape(part) for part in parts))


def text(words: str, x: float, y: float, class_: str, **attributes: object) -> Markup:
    return tag("text", words, x=x, y=y, class_=class_, **attributes)


def linked(content: Markup, address: str) -> Markup:
    """The content as a link, if the address is one of this site or of the web."""
    if not _SAFE_ADDRESS.match(address):
        return content
    return tag("a", content, href=address)


def name_of(*parts: object) -> str:
    """A name for a chart's ids: the same for the same chart, another for any other."""
    return "chart-" + sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:10]


def number(value: float, places: int = 1) -> str:
    """A coordinate, as short as it can be."""
    short = f"{value:.{places}f}"
    if "." in short:
        short = short.rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def _written(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _clean(words: str) -> str:
    return _FORBIDDEN.sub("\ufffd", words)
