"""Where a finding in a query stands in the document around it."""

from typing import Any

import yaml

from aggregation.errors import Problem
from aggregation.protocol.spec_text import read_document

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BlockPlaces:
    """Lines of the queries in a document: their own lines and columns become the document's.

    Findings on other fields have the document's already."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._blocks: dict[str, int] = {}
        try:
            read_document(text)  # refuses what must not be composed
            self._walk(yaml.compose(text, Loader=_LOADER), ())
        except (Problem, yaml.YAMLError):
            pass  # then there are no queries either

    def placed(self, diagnostics: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Each finding with `document_line` and `document_column` beside its own place."""
        return [{**found, **self._place(found)} for found in diagnostics]

    def _place(self, found: dict[str, Any]) -> dict[str, int | None]:
        line, column, part = found["line"], found["column"], found["part"]
        if part in self._blocks and line is not None:
            line += self._blocks[part]
            column = (column or 1) + self._indent(line)
        elif _is_query(part):
            line, column = self._line_of(part), 1
        return {"document_line": line, "document_column": column}

    def _indent(self, line: int) -> int:
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return min(len(text) - len(text.lstrip(" ")), 2)

    def _line_of(self, part: str) -> int | None:
        name = part.rpartition(".")[2] + ":"
        found = (at for at, line in enumerate(self._lines, 1) if line.strip().startswith(name))
        return next(found, None)

    def _walk(self, node: yaml.Node | None, path: tuple[str, ...]) -> None:
        if not isinstance(node, yaml.MappingNode):
            return
        for key, value in node.value:
            here = (*path, str(key.value))
            block = isinstance(value, yaml.ScalarNode) and value.style == "|"
            if block and _is_query(here[-1]):
                # The block's first line is the one after its mark.
                self._blocks[".".join(here)] = value.start_mark.line + 1
            self._walk(value, here)


def _is_query(part: str) -> bool:
    return part.rpartition(".")[2] in ("sql", "client_sql", "server_sql")
