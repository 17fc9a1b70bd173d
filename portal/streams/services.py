"""Installing the streams: their catalog, domains and places as files in the data folder."""

import fcntl
import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aggregation.errors import Problem
from aggregation.protocol.domains import Domain
from aggregation.protocol.shipped import shipped_catalog
from aggregation.protocol.streams import Catalog
from portal.streams import places_file
from portal.streams.geography import GEONAMES, Source

Tell = Callable[[str], None]


class Receipt(msgspec.Struct, frozen=True):
    """What an installation wrote, by hash. It is written last: with it, all the rest is there."""

    catalog: str
    places: str
    places_format: int


@dataclass(frozen=True)
class Installation:
    catalog: Catalog
    # False when everything was there already and is what it should be.
    built: bool


def install_streams(*, folder: Path, tell: Tell, source: Source = GEONAMES) -> Installation:
    """Build what is missing or damaged, once; else only check that everything is whole.

    Each file is written beside its place and renamed, and installers take turns, so it can be
    killed at any moment, and run by several processes at a time.
    """
    with _writable(folder), _taking_turns(folder):
        faults = _faults(folder, source)
        if faults:
            _build(folder, source, faults, tell)
        return Installation(Catalog.open(folder), built=bool(faults))


def _build(folder: Path, source: Source, faults: list[str], tell: Tell) -> None:
    for fault in faults:
        tell(fault)
    for leftover in folder.rglob("*.new"):
        leftover.unlink()
    geography = source.checked()
    catalog = _shipped(geography.regions, geography.country_codes)
    places = places_file.write(folder, geography)
    catalog.write(folder)
    receipt = Receipt(catalog.sha256, _file_sha256(places), places_file.FORMAT)
    temporary = folder / "installed.json.new"
    temporary.write_bytes(msgspec.json.encode(receipt))
    temporary.replace(folder / "installed.json")


def _faults(folder: Path, source: Source) -> list[str]:
    """A sentence for each thing that is not as it should be; none where all is well."""
    try:
        receipt = msgspec.json.decode((folder / "installed.json").read_bytes(), type=Receipt)
    except FileNotFoundError:
        return [f"The streams are not installed in {folder} yet: they are built now."]
    except msgspec.DecodeError:
        return [f"The file {folder / 'installed.json'} is damaged: the streams are built again."]
    return [*_catalog_faults(folder, receipt, source), *_places_faults(folder, receipt)]


def _catalog_faults(folder: Path, receipt: Receipt, source: Source) -> Iterator[str]:
    if not (folder / "catalog.json").exists():
        yield f"The file {folder / 'catalog.json'} is missing. It is built again."
        return
    try:
        catalog = Catalog.open(folder)
    except Problem as problem:
        yield f"{problem.message} It is built again."
        return
    if _file_sha256(folder / "catalog.json") != receipt.catalog:
        yield f"The file {folder / 'catalog.json'} was changed. It is built again."
    elif not _is_of_this_version(catalog, source):
        yield "Other streams are installed than this version ships. They are built anew."


def _places_faults(folder: Path, receipt: Receipt) -> Iterator[str]:
    path = folder / places_file.NAME
    if not path.exists():
        yield f"The file {path} is missing. It is built again."
    elif receipt.places_format != places_file.FORMAT:
        yield f"The file {path} is of another version of Mayfly. It is built again."
    elif _file_sha256(path) != receipt.places:
        yield f"The file {path} is damaged. It is built again."


def _is_of_this_version(catalog: Catalog, source: Source) -> bool:
    """Would this version, with the places it knows by hash, install the very same catalog?"""
    try:
        regions = catalog.domain(source.regions_sha256)
        countries = catalog.domain(source.countries_sha256)
    except KeyError:
        return False
    return _shipped(regions, countries).sha256 == catalog.sha256


def _shipped(regions: Domain, countries: Domain) -> Catalog:
    return shipped_catalog(regions=[str(v) for v in regions], countries=[str(v) for v in countries])


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _taking_turns(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "install.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        raise Problem(
            f"The streams cannot be installed in {folder}: {error}.",
            hint="Make room, let this user write there, or name another folder with MAYFLY_DATA.",
        ) from None
