"""A spec as YAML that people like to read: fields in the design's order, SQL as block text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import yaml

from aggregation.protocol.spec import Spec, decimal_text
from aggregation.protocol.spec_text import plain_value


def to_yaml(spec: Spec) -> str:
    """YAML that reads back as the same spec. Fields that hold their default are left out."""
    plain = _without_defaults(spec)
    return yaml.dump(
        plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, indent=2
    )


def _without_defaults(part: msgspec.Struct) -> dict[str, Any]:
    config = part.__struct_config__
    plain: dict[str, Any] = {config.tag_field: config.tag} if config.tag_field else {}
    for field in msgspec.structs.fields(type(part)):
        value = getattr(part, field.name)
        if field.required or value != field.default:
            plain[field.name] = _plain(value)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return _without_defaults(value)
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return _number(value) if isinstance(value, Decimal) else msgspec.to_builtins(value)


def _number(decimal: Decimal) -> Any:
    """A plain number where that reads back as the same decimal, else its text."""
    text = decimal_text(decimal)
    try:
        value = float(text) if "." in text else int(text)
    except ValueError:
        return text
    return value if str(value) == text else text


class _Dumper(yaml.SafeDumper):
    """Block style for text of several lines, flow style for short lists and small mappings."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    """Quoted where our reader would take it for a number: `1e5` is text for the writer of YAML."""
    number = not isinstance(plain_value(value), str)
    style = "|" if "\n" in value else "'" if number else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.SequenceNode:
    short = all(isinstance(v, str | int | float) for v in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=short)


def _mapping(dumper: yaml.SafeDumper, value: dict[str, Any]) -> yaml.MappingNode:
    small = len(value) <= 4 and all(isinstance(v, int | float) for v in value.values())
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=small)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)
_Dumper.add_representer(dict, _mapping)
