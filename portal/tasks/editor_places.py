"""Where a finding in a query stands in the document around it."""

from typing import Any

import yaml

from aggregation.errors import Problem
from aggregation.protocol.spec_text import Path, Place, read_document

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BlockPlaces:
    """Lines of the queries in a document: their own lines and columns become the document's.

    Findings on other fields have the document's already."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        # The line of a block's first line, from 0, and how far in its text stands.
        self._blocks: dict[str, tuple[int, int]] = {}
        self._fields: dict[Path, Place] = {}
        try:
            self._fields = read_document(text).places  # refuses what must not be composed
            self._walk(yaml.compose(text, Loader=_LOADER), ())
        except (Problem, yaml.YAMLError):
            pass  # then there are no queries either

    def placed(self, diagnostics: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Each finding with `document_line` and `document_column` beside its own place."""
        return [{**found, **self._place(found)} for found in diagnostics]

    def _place(self, found: dict[str, Any]) -> dict[str, int | None]:
        line, column, part = found["line"], found["column"], found["part"]
        if part in self._blocks and line is not None:
            above, indent = self._blocks[part]
            line, column = line + above, (column or 1) + indent
        elif _is_query(part):
            line, column = self._fields.get(tuple(part.split(".")), (None, None))
        return {"document_line": line, "document_column": column}

    def _walk(self, node: yaml.Node | None, path: tuple[str, ...]) -> None:
        if not isinstance(node, yaml.MappingNode):
            return
        for key, value in node.value:
            here = (*path, str(key.value))
            block = isinstance(value, yaml.ScalarNode) and value.style == "|"
            if block and _is_query(here[-1]):
                # The block's first line is the one after its mark.
                above = value.start_mark.line + 1
                self._blocks[".".join(here)] = (above, self._indent(above, value.value))
            self._walk(value, here)

    def _indent(self, above: int, text: str) -> int:
        """What a line of the document has that the block's text does not."""
        pairs = zip(self._lines[above:], text.split("\n"), strict=False)
        written = ((whole.rstrip("\r"), line) for whole, line in pairs if line.strip())
        return next((len(whole) - len(line) for whole, line in written), 0)


def _is_query(part: str) -> bool:
    return part.rpartition(".")[2] in ("sql", "client_sql", "server_sql")
