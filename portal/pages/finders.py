"""Static files out of installed packages, one by one, so that no third-party code is in git."""

from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage


class PackageFinder(BaseFinder):
    """Finds what `settings.PACKAGE_STATIC` names: address → (package, path inside it)."""

    def find(self, path: str, find_all: bool = False, **_: Any) -> Any:
        """The file's place on disk; an empty list for an address that nobody named."""
        if path not in settings.PACKAGE_STATIC:
            return []
        place = str(_place(path))
        return [place] if find_all else place

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Any]]:
        for path in settings.PACKAGE_STATIC:
            yield path, OneFile(path, _place(path))


class OneFile(FileSystemStorage):
    """A storage with a single file in it, under the address it is served at."""

    def __init__(self, address: str, place: Path) -> None:
        super().__init__(location=str(place.parent))
        self.prefix = ""
        self._known = {address: str(place)}

    def path(self, name: str) -> str:
        return self._known[name]


def _place(path: str) -> Path:
    package, inside = settings.PACKAGE_STATIC[path]
    return Path(str(files(package) / inside))
