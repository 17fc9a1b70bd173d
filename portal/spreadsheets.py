"""Cells of an exported CSV that a spreadsheet must not run: people have typed names and labels."""

from typing import Any

# What a spreadsheet takes for the beginning of a formula.
_RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(value: Any) -> Any:
    """Text that would be run gets a quotation mark before it; numbers keep their minus."""
    return "'" + value if isinstance(value, str) and value.startswith(_RUN) else value
