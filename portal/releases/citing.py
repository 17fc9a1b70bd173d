"""How to cite a release: in words, and for BibTeX."""

from django.conf import settings
from django.urls import reverse

from portal.releases.dating import dated
from portal.releases.models import Release
from portal.releases.signing import read_card


def citation(release: Release) -> str:
    """One sentence after the other, with the address and the hash of the numbers."""
    card = read_card(release.card)
    return (
        f"Mayfly ({release.released_at.year}). {_title(release)} [Data set]. "
        f"Released {release.released_at:%Y-%m-%d}, {card.epsilon}-differentially private per "
        f"device and {card.window_unit}. {_address(release)}. "
        f"SHA-256 of the numbers: {release.noised_sha256}."
    )


def source(release: Release) -> str:
    """For a picture that leaves its page: which numbers, what guards them, and where they are."""
    card = read_card(release.card)
    return (
        f"{card.task}, {dated(release.window.as_window())}. ε = {card.epsilon} for each device "
        f"and {card.window_unit}, intervals at 95 %. Source: Mayfly, {_address(release)}"
    )


def bibtex(release: Release) -> str:
    card = read_card(release.card)
    key = f"mayfly-{card.task}-{card.window}"
    note = (
        f"{card.epsilon}-differentially private per device and {card.window_unit}; "
        f"SHA-256 of the numbers {release.noised_sha256}"
    )
    fields = {
        "author": "{Mayfly}",
        "title": "{" + _title(release) + "}",
        "year": str(release.released_at.year),
        "month": str(release.released_at.month),
        "howpublished": "Data set",
        "url": _address(release),
        "note": note,
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items()]
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _title(release: Release) -> str:
    window = release.window.as_window()
    return f"{release.window.task.name}, {window.unit} {window.label}"


def _address(release: Release) -> str:
    path = reverse("release", args=[release.window.task.name, release.window.window])
    return f"{settings.PUBLIC_URL}{path}"
