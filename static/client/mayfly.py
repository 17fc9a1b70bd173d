"""Read the releases of a Mayfly in a few lines. One file, Python 3.9 or newer, nothing to install.

    import mayfly

    release = mayfly.connect("http://127.0.0.1:8000").release("weekly-trips")
    table = release.table("by-region-activity", activity="cycling")
    table["distance_km"], table["distance_km_half_width"]

Every number carries noise; the column of its half-width says how much, at 95 %. Rows that noise
would drown are not shown: their numbers are None, and the column `suppressed` says why.

This file checks no signatures; the page /docs/verify-a-release shows how openssl does.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

_TIMEOUT_SECONDS = 60
_TRIES = 3
_WIDTH = "_half_width"


class Problem(Exception):
    """What went wrong, and what to do about it."""


def connect(url: str, token: str = "") -> Mayfly:
    """A Mayfly at an address. Releases that are not public need a token with the scope `read`.

    Without one, the environment variable MFLY_TOKEN is used if there is one.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise Problem(f"{url!r} is no address. Give one such as http://127.0.0.1:8000.")
    return Mayfly(url.rstrip("/"), token or os.environ.get("MFLY_TOKEN", ""))


@dataclass(frozen=True)
class Mayfly:
    url: str
    token: str = field(default="", repr=False)

    def releases(self, task: str = "") -> list[dict[str, Any]]:
        """What there is to read, the newest first: task, window, label, audience and more."""
        found: list[dict[str, Any]] = []
        query, page = {"task": task} if task else {}, 1
        while page:
            answer = self.get("releases", {**query, "page": str(page), "page_size": "500"})
            found += answer["results"]
            page = page + 1 if answer["next"] else 0
        return found

    def release(self, task: str, window: str = "latest") -> Release:
        """One release: of a window such as 2026-11-09, or the newest."""
        about = self.get(f"releases/{_path(task)}/{_path(window)}")
        return Release(self, task, about["window"], about["label"], about)

    def get(self, path: str, query: dict[str, Any] | None = None) -> Any:
        """What the API answers at an address below /api/v1."""
        with self.open(path, query) as answer:
            return json.load(answer)

    def open(self, path: str, query: dict[str, Any] | None = None) -> Any:
        """The same, to be read piece by piece."""
        words = urllib.parse.urlencode(query or {}, doseq=True)
        address = f"{self.url}/api/v1/{path}?{words}".rstrip("?")
        request = urllib.request.Request(address, headers={"Accept": "application/json, */*"})  # noqa: S310
        if self.token:
            # Never sent on to another address.
            request.add_unredirected_header("Authorization", f"Bearer {self.token}")
        for tries_left in reversed(range(_TRIES)):
            try:
                return urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)  # noqa: S310
            except urllib.error.HTTPError as error:
                wait = error.headers.get("Retry-After", "")
                if not (tries_left and error.code in (429, 503) and wait.isdigit()):
                    raise Problem(_sentence(error)) from None
                time.sleep(min(int(wait), _TIMEOUT_SECONDS))
            except OSError as error:
                reason = getattr(error, "reason", error)
                raise Problem(f"Nothing answers at {self.url}: {reason}.") from None
        raise AssertionError("The last try returns or raises.")


@dataclass(frozen=True)
class Release:
    """The one noised answer of a task for a window."""

    mayfly: Mayfly = field(repr=False)
    task: str
    window: str
    # As people read it, such as 2026-W46.
    label: str
    # Everything the API says of it.
    about: dict[str, Any] = field(repr=False)

    @property
    def card(self) -> dict[str, Any]:
        """What is guaranteed, to whom, and what is not."""
        return dict(self.about["card"])

    @cached_property
    def dictionary(self) -> dict[str, Any]:
        """What every column of every table means, and in which unit."""
        return dict(self.mayfly.get(f"{self._at}/dictionary"))

    @property
    def tables(self) -> list[str]:
        return [table["name"] for table in self.dictionary["tables"]]

    @cached_property
    def citation(self) -> str:
        with self.mayfly.open(f"{self._at}/files/citation.txt") as answer:
            return str(answer.read().decode().strip())

    @cached_property
    def previous(self) -> Release:
        """The release of the latest window before this one."""
        windows = [one["window"] for one in self.mayfly.releases(self.task) if one["is_rendered"]]
        earlier = [window for window in windows if window < self.window]
        if earlier:
            return self.mayfly.release(self.task, max(earlier))
        raise Problem(f"{self.task} has no release before {self.label}.")

    def table(
        self,
        name: str = "cells",
        *,
        shown: bool = False,
        sort: str = "",
        where: dict[str, Any] | None = None,
        **keys: Any,
    ) -> Table:
        """Rows of a table: `table("by-region-activity", activity=["bus", "train"], country="FR")`.

        `shown` leaves out rows that are not shown. `sort="-distance_km"` puts the largest first.
        """
        asked = {key: _values(value) for key, value in {**(where or {}), **keys}.items()}
        query: dict[str, Any] = {**asked, **({"shown": "1"} if shown else {})}
        if sort:
            query["sort"] = sort
        with self.mayfly.open(f"{self._at}/files/{_path(name)}.json", query) as answer:
            columns = _columns(answer)
        return Table(self, name, query, columns)

    def save(self, name: str, path: str) -> None:
        """Write a file of the release, such as cells.parquet or by-region.geojson."""
        answer = self.mayfly.open(f"{self._at}/files/{_path(name)}")
        with answer, open(path, "wb") as file:
            shutil.copyfileobj(answer, file)

    @property
    def _at(self) -> str:
        return f"releases/{_path(self.task)}/{_path(self.window)}"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of some rows."""

    release: Release
    name: str
    query: dict[str, Any]
    columns: dict[str, list[Any]] = field(repr=False)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, column: str) -> list[Any]:
        if column not in self.columns:
            known = ", ".join(self.columns) or "none, since there are no rows"
            raise Problem(f"The table {self.name} has no column {column!r}. There are {known}.")
        return self.columns[column]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Row by row."""
        return (self.row(at) for at in range(len(self)))

    def row(self, at: int) -> dict[str, Any]:
        return {name: values[at] for name, values in self.columns.items()}

    def numbers(self, column: str, per: str = "") -> list[Number]:
        """The numbers that are shown, each with its half-width; divided by a column without noise,
        such as `population`."""
        widths, by = self[self._width_of(column)], self[per] if per else None
        found = []
        for at, value in enumerate(self[column]):
            divisor = 1 if by is None else by[at]
            if value is not None and divisor:
                # Null beside a value: nothing is known of how far off it may be.
                width = math.inf if widths[at] is None else widths[at] / divisor
                found.append(Number(value / divisor, width, self, at, column, per))
        return found

    def _width_of(self, column: str) -> str:
        """The column that follows. A task may have called one of its own so: then ours has an
        underscore more."""
        names = list(self.columns)
        after = names[names.index(column) + 1 :][:1] if column in names else []
        return after[0] if after and after[0].startswith(column + _WIDTH) else column + _WIDTH

    @cached_property
    def previous(self) -> Table:
        """The same rows a window earlier."""
        before = self.release.previous
        keys = {key: value for key, value in self.query.items() if key not in ("shown", "sort")}
        return before.table(self.name, where=keys)

    def key(self, at: int) -> tuple[Any, ...]:
        """What tells a row from the others."""
        names = list(self.columns)
        return tuple(self.columns[name][at] for name in names[: names.index("privacy_time_unit")])

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self.columns)

    def to_polars(self) -> Any:
        import polars

        return polars.DataFrame(self.columns)


@dataclass(frozen=True, order=True)
class Number:
    """A released number: within value ± half_width lies the truth, 95 times in 100."""

    value: float
    half_width: float
    table: Table = field(repr=False, compare=False)
    at: int = field(repr=False, compare=False)
    column: str = field(compare=False)
    per: str = field(default="", compare=False)

    def __str__(self) -> str:
        return _written(self.value, self.half_width)

    @property
    def row(self) -> dict[str, Any]:
        return self.table.row(self.at)

    def minus(self, other: Number) -> Change:
        width = math.hypot(self.half_width, other.half_width)
        return Change(self.value - other.value, width, other)

    def differs_from(self, other: Number) -> bool:
        """Whether the difference is larger than the noise of both."""
        return self.minus(other).is_clear

    def change(self) -> Change | None:
        """Since the window before; None where the row was not shown then."""
        before, key = self.table.previous, self.table.key(self.at)
        same = (n for n in before.numbers(self.column, self.per) if before.key(n.at) == key)
        found = next(same, None)
        return self.minus(found) if found else None


@dataclass(frozen=True)
class Change:
    """A difference of two numbers. Each has noise of its own, so the squares of half-widths add."""

    difference: float
    half_width: float
    since: Number

    def __str__(self) -> str:
        return ("+" if self.difference > 0 else "") + _written(self.difference, self.half_width)

    @property
    def is_clear(self) -> bool:
        """Whether it is larger than the noise."""
        return abs(self.difference) > self.half_width

    @property
    def percent(self) -> float | None:
        """Of the earlier number; None where that is not above its own noise."""
        base = self.since.value
        return 100 * self.difference / base if base > self.since.half_width else None


def _columns(lines: Any) -> dict[str, list[Any]]:
    """One row a line: only the columns are kept."""
    columns: dict[str, list[Any]] = {}
    text = b""
    try:
        for line in lines:
            text = line.strip()
            if text.startswith(b"{"):
                for name, value in json.loads(text.rstrip(b",")).items():
                    columns.setdefault(name, []).append(value)
    except (OSError, http.client.HTTPException):
        text = b""
    if not text.endswith(b"]"):
        raise Problem("The answer broke off before its end. Ask again.")
    return columns


def _written(value: float, half_width: float) -> str:
    """With as many digits as the noise leaves: 12.4 ± 0.3."""
    if half_width <= 0 or math.isinf(half_width):
        return f"{value:,.6g} ± {'0' if half_width <= 0 else '∞'}"
    digits = max(0, 1 - math.floor(math.log10(half_width)))
    return f"{value:,.{digits}f} ± {half_width:,.{digits}f}"


def _values(value: Any) -> list[str]:
    many = isinstance(value, Sequence) and not isinstance(value, str)
    return [str(one) for one in value] if many else [str(value)]


def _path(part: str) -> str:
    return urllib.parse.quote(part, safe="")


def _sentence(error: urllib.error.HTTPError) -> str:
    try:
        told = json.load(error)["error"]
        return f"{told['message']} {told['hint']}".strip()
    except (ValueError, KeyError, TypeError):
        return f"{error.url} answered {error.code}."
