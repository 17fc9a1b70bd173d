"""Names that people type for others to read."""

import unicodedata

from django.core.exceptions import ValidationError

# Controls, marks that turn the direction of writing, lone surrogates, private use, line breaks.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# Some scripts spell with these two.
_JOINERS = frozenset("\u200c\u200d")


def only_what_is_seen(name: str) -> None:
    """Refuse characters that nobody sees: with them one name can be drawn as another."""
    for character in name:
        if unicodedata.category(character) in _UNSEEN and character not in _JOINERS:
            raise ValidationError(
                f"The name holds an invisible character (U+{ord(character):04X}). Remove it.",
                code="unseen",
            )
