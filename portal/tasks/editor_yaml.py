"""Values as YAML text that reads back as the very same values, in the style of a spec.

Text of several lines becomes a block, short lists and small mappings stand on one line, anything
that could be taken for something else is quoted.
"""

import json
import math
import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_ ./-]*[A-Za-z0-9_.]|[A-Za-z]")
# Words that YAML, in one version or another, does not take for text.
_WORDS = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n"])
_STEP = 2


def entry(name: str, value: Any, indent: int) -> str:
    """`name: value` of a block mapping whose names stand at this column, without a line's end."""
    return f"{' ' * indent}{scalar(name)}:{block(value, indent)}"


def block(value: Any, indent: int) -> str:
    """What follows a name's colon in a block mapping at this column."""
    if isinstance(value, str) and _is_block_text(value):
        return f" |{_chomping(value)}\n{_indented(value, indent + _STEP)}"
    if isinstance(value, dict) and value and not _is_small(value):
        return "\n" + "\n".join(entry(k, v, indent + _STEP) for k, v in value.items())
    if isinstance(value, list) and any(isinstance(v, dict) for v in value):
        pad = " " * (indent + _STEP)
        return "\n" + "\n".join(f"{pad}- {flow(v)}" for v in value)
    if isinstance(value, str) and _is_plain(value.replace(", ", " ")):
        return f" {value}"  # a comma means nothing outside of brackets
    return f" {flow(value)}"


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    if isinstance(value, str):
        return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value)


def document(value: dict[str, Any]) -> str:
    """A whole document, one field after another."""
    return "".join(entry(name, part, 0).rstrip("\n") + "\n" for name, part in value.items())


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS


def _number(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return repr(value)


def _is_small(value: dict[str, Any]) -> bool:
    """One line holds it: few names, with plain values."""
    simple = all(isinstance(v, int | float | bool) or _is_short(v) for v in value.values())
    return simple and len(flow(value)) <= 88


def _is_short(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(v, int | float | str) for v in value)
    return isinstance(value, str) and not _is_block_text(value)


def _is_block_text(value: str) -> bool:
    """Text that a block can hold: several lines, printable, and not only line ends."""
    if "\n" not in value or not value.strip():
        return False
    return all(c in "\n\t" or (c.isprintable() and c != "\ufeff") for c in value)


def _chomping(value: str) -> str:
    first = next(line for line in value.split("\n") if line.strip())
    mark = str(_STEP) if first[0] in " \t" or value[0] == "\n" else ""
    if not value.endswith("\n"):
        return mark + "-"
    return mark + ("+" if value.endswith("\n\n") else "")


def _indented(value: str, indent: int) -> str:
    lines = value.removesuffix("\n").split("\n")
    return "\n".join(" " * indent + line if line else "" for line in lines)
