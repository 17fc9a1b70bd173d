"""Where a field's value stands in YAML text, and the text with another value in its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec
import yaml

from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_text import Path
from portal.tasks import editor_yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# A new field goes where the documentation has it.
_ORDER = [field.name for field in msgspec.structs.fields(Spec)]


@dataclass(frozen=True)
class _Found:
    """A mapping, and the entry for a name in it where there is one."""

    mapping: yaml.MappingNode
    key: yaml.ScalarNode | None = None
    value: yaml.Node | None = None


class Splice:
    """One YAML text that `read_document` has read: no anchors, no tags, no repeated names."""

    def __init__(self, text: str) -> None:
        self._text = text if text.endswith("\n") else text + "\n"
        self._lines = [0]
        for line in self._text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._root = cast(yaml.MappingNode, yaml.compose(self._text, Loader=_LOADER))

    def with_value(self, path: Path, value: Any) -> str:
        """The text with this value at the path; None takes the field out."""
        steps = [str(step) for step in path]
        if entry := self._entry(steps):
            start, end = self._at(entry.start_mark), self._at(entry.end_mark)
            return f"{self._text[:start]}{editor_yaml.flow(value)}{self._text[end:]}"
        mapping, depth = self._deepest(steps)
        found = _look_up(mapping, steps[depth])
        if value is None:
            return self._without(found)
        for step in reversed(steps[depth + 1 :]):
            value = {step: value}
        if found.key is not None and found.value is not None:
            return self._replaced(found, value)
        return self._inserted(found.mapping, steps[depth], value)

    def _entry(self, steps: list[str]) -> yaml.ScalarNode | None:
        """The entry of a list that a path leads to."""
        node: yaml.Node | None = self._root
        for step in steps[:-1]:
            node = _inner(node, step)
        entry = _inner(node, steps[-1]) if isinstance(node, yaml.SequenceNode) else None
        return entry if isinstance(entry, yaml.ScalarNode) else None

    def _deepest(self, steps: list[str]) -> tuple[yaml.MappingNode, int]:
        """The innermost mapping on the way to a field, and how many steps lead there."""
        mapping = self._root
        for depth, step in enumerate(steps[:-1]):
            inner = _look_up(mapping, step).value
            if not isinstance(inner, yaml.MappingNode):
                return mapping, depth
            mapping = inner
        return mapping, len(steps) - 1

    def _replaced(self, found: _Found, value: Any) -> str:
        assert found.key is not None and found.value is not None  # noqa: PT018, S101
        start = self._at(found.key.end_mark)
        colon = self._text.index(":", start) + 1
        column = found.key.start_mark.column
        end = self._end(found.value, found.mapping)
        if found.mapping.flow_style:
            return f"{self._text[:colon]} {editor_yaml.flow(value)}{self._text[end:]}"
        head, block, body = editor_yaml.block(value, column).partition("\n")
        # A comment on the value's line stays on the line of the name.
        line_end = self._text.index("\n", end)
        comment = self._text[end:line_end]
        return f"{self._text[:colon]}{head}{comment}{block}{body}{self._text[line_end:]}"

    def _inserted(self, mapping: yaml.MappingNode, name: str, value: Any) -> str:
        if mapping.flow_style:
            end = self._at(mapping.end_mark) - 1
            comma = ", " if mapping.value else ""
            new = f"{comma}{editor_yaml.scalar(name)}: {editor_yaml.flow(value)}"
            return self._text[:end].rstrip() + new + self._text[end:]
        before = _neighbour(mapping, name)
        end = self._line_end(self._end(before[1], mapping))
        new = editor_yaml.entry(name, value, mapping.start_mark.column)
        return self._text[:end].rstrip("\n") + "\n" + new + "\n" + self._text[end:].lstrip("\n")

    def _without(self, found: _Found) -> str:
        if found.key is None or found.value is None:
            return self._text
        if found.mapping.flow_style or len(found.mapping.value) == 1:
            return ""  # rare: the whole is written anew
        start = self._lines[found.key.start_mark.line]
        return (
            self._text[:start] + self._text[self._line_end(self._end(found.value, found.mapping)) :]
        )

    def _end(self, node: yaml.Node, mapping: yaml.MappingNode) -> int:
        """Where a value ends. YAML lets blocks run on to what follows: that is cut off again."""
        start, end = self._at(node.start_mark), self._at(node.end_mark)
        if end <= start or "\n" not in self._text[start:end]:
            return max(start, end)
        if getattr(node, "flow_style", False) or getattr(node, "style", None) in ("'", '"'):
            return end
        return self._cut_back(start, end, mapping.start_mark.column)

    def _cut_back(self, start: int, end: int, column: int) -> int:
        """Leave out blank lines, and comments that stand no deeper than the names do."""
        lines = self._text[start:end].splitlines(keepends=True)
        while len(lines) > 1 and _is_outside(lines[-1], column):
            end -= len(lines.pop())
        return end - 1 if lines[-1].endswith("\n") else end

    def _line_end(self, at: int) -> int:
        return self._text.index("\n", at) + 1 if at < len(self._text) else at

    def _at(self, mark: yaml.Mark) -> int:
        return min(self._lines[mark.line] + mark.column, len(self._text))


def _is_outside(line: str, column: int) -> bool:
    bare = line.lstrip(" ")
    return not bare.strip() or (bare.startswith("#") and len(line) - len(bare) <= column)


def index_of(step: str, entries: Sequence[Any]) -> int | None:
    """The place in a list that a step of a path names."""
    is_one = step.isdecimal() and len(step) < 6 and int(step) < len(entries)
    return int(step) if is_one else None


def _inner(node: yaml.Node | None, step: str) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode):
        index = index_of(step, node.value)
        return node.value[index] if index is not None else None
    return _look_up(node, step).value if isinstance(node, yaml.MappingNode) else None


def _look_up(mapping: yaml.MappingNode, name: str) -> _Found:
    for key, value in mapping.value:
        if key.value == name:
            return _Found(mapping, key, value)
    return _Found(mapping)


def _neighbour(mapping: yaml.MappingNode, name: str) -> tuple[yaml.ScalarNode, yaml.Node]:
    """The entry after which a new one goes."""
    entries: list[tuple[yaml.ScalarNode, yaml.Node]] = mapping.value
    if name in _ORDER:
        earlier = _ORDER[: _ORDER.index(name)]
        return next((e for e in reversed(entries) if e[0].value in earlier), entries[-1])
    return entries[-1]
