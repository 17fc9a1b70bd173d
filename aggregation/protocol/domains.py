"""Domains: the closed, public set of values a key column may take.

Noise goes on every declared cell, so the cells must be known before any data is: a domain is
part of its stream, fixed when the stream is installed, and named by the hash of its content. It
lives in one file that all processes map into memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from uuid import uuid4

import msgspec
import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem

Value = str | int


class Domain:
    """An ordered set of text values or of integers. A value's index is its place in the order."""

    def __init__(self, values: Sequence[Value] | NDArray[np.generic]) -> None:
        self._array = values if isinstance(values, np.ndarray) else _to_array(values)

    @classmethod
    def open(cls, path: Path, *, sha256: str) -> Domain:
        """Map a domain's file into memory and check that it holds what its name says."""
        try:
            domain = cls(np.load(path, mmap_mode="r", allow_pickle=False))
            if domain._is_well_formed and domain.sha256 == sha256:
                return domain
        except (OSError, ValueError, EOFError):
            pass  # missing, cut off, or no array at all: the remedy is the same
        raise Problem(
            f"The domain file {path} does not hold what its name says.",
            hint="Run `manage.py install_streams`: it builds what is missing or damaged again.",
        )

    def write(self, folder: Path) -> Path:
        """Store the domain under its hash. Writing it twice is harmless, and mends its file."""
        path = folder / f"{self.sha256}.npy"
        if not self._is_stored(path):
            # Beside and renamed: another process sees the whole file or none.
            temporary = path.with_name(f"{path.name}.{uuid4().hex}.new")
            with temporary.open("wb") as file:
                np.save(file, self._array)
            temporary.replace(path)
        return path

    def _is_stored(self, path: Path) -> bool:
        try:
            return bool(Domain.open(path, sha256=self.sha256))
        except Problem:
            return False

    @cached_property
    def sha256(self) -> str:
        """Hash of the values in their order as compact JSON, UTF-8: easy to redo anywhere."""
        return hashlib.sha256(msgspec.json.encode(list(self))).hexdigest()

    @property
    def is_text(self) -> bool:
        return self._array.dtype.kind == "S"

    @property
    def _is_well_formed(self) -> bool:
        # Text stored in another width has the same hash and would never be found.
        return self._array.ndim == 1 and (self.is_text or self._array.dtype == np.int64)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Value]:
        items: list[bytes | int] = self._array.tolist()
        return (v.decode() if isinstance(v, bytes) else v for v in items)

    def __getitem__(self, index: int) -> Value:
        value: bytes | int = self._array[index].item()
        return value.decode() if isinstance(value, bytes) else value

    def __contains__(self, value: object) -> bool:
        return bool(self.indices([value])[0] >= 0)

    def index(self, value: Value) -> int:
        found = int(self.indices([value])[0])
        if found < 0:
            raise KeyError(value)
        return found

    def indices(self, values: Iterable[object]) -> NDArray[np.int64]:
        """The index of each value, −1 for what is not in the domain (or not of its type)."""
        items = list(values)
        wanted, fits = self._as_wanted(items)
        places = np.searchsorted(self._sorted, wanted)
        places[places == len(self)] = 0
        found = fits & (self._sorted[places] == wanted)
        return np.where(found, self._order[places], -1).astype(np.int64)

    def _as_wanted(self, items: list[object]) -> tuple[NDArray[np.generic], NDArray[np.bool_]]:
        if self.is_text:
            width = self._array.dtype.itemsize
            # A lone surrogate becomes bytes that no value has, not a "?" that one may have.
            raw = [v.encode("utf-8", "surrogatepass") if isinstance(v, str) else b"" for v in items]
            # A NUL at the end would vanish in a fixed-width array and match a shorter value.
            fits = [0 < len(v) <= width and b"\0" not in v for v in raw]
            return np.array(raw, dtype=self._array.dtype), np.array(fits, dtype=bool)
        whole = [type(v) is int and -(2**63) <= v < 2**63 for v in items]
        numbers = [v if ok else 0 for v, ok in zip(items, whole, strict=True)]
        return np.array(numbers, dtype=np.int64), np.array(whole, dtype=bool)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self._array, kind="stable")

    @cached_property
    def _sorted(self) -> NDArray[np.generic]:
        return self._array[self._order]


def _to_array(values: Sequence[Value]) -> NDArray[np.generic]:
    if not values:
        raise Problem("A domain has at least one value.")
    if len(set(values)) != len(values):
        raise Problem("A domain names each of its values once.")
    if all(type(v) is int and -(2**63) <= v < 2**63 for v in values):
        return np.array(values, dtype=np.int64)
    if all(isinstance(v, str) and _is_plain(v) for v in values):
        return np.array([str(v).encode() for v in values], dtype=bytes)
    raise Problem(
        "A domain holds either whole numbers of 64 bits or non-empty text, not both.",
        hint="Text has no NUL and no lone surrogates.",
    )


def _is_plain(text: str) -> bool:
    return bool(text) and not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text)
