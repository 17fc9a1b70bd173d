"""What a chart is made of. Plain values: no model, no request, nothing of a release's files."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """One number to draw, with its interval. Without a value it is drawn as not shown."""

    value: float | None
    # The interval is value ± half_width, in the value's unit.
    half_width: float | None = None
    # Why it is not shown, or a remark; ends up in the tooltip.
    note: str = ""
    # Where a click leads: an address of this site, or http(s).
    href: str = ""


@dataclass(frozen=True)
class Group:
    """What one label of a histogram has: one mark for each series."""

    label: str
    marks: tuple[Mark, ...]
    href: str = ""
    # What those of its marks that are shown add up to; else their errors count as independent.
    total: Mark | None = None


@dataclass(frozen=True)
class Line:
    """One series over time: one mark for each label of the axis."""

    name: str
    marks: tuple[Mark, ...]
    # Which colour it has: without one, that of its place among the lines.
    colour: int | None = None


@dataclass(frozen=True)
class Shade:
    """What a mark's colour says beside its value, such as a share or a change."""

    # In the unit that the map names for its colours.
    value: float
    half_width: float | None = None
    # It could be noise alone: then it has no colour that would say otherwise.
    is_noise: bool = False
    # Both ends of its interval, where they are not equally far away.
    ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class Place:
    """A point of a map. Its mark's value is its size."""

    label: str
    latitude: float
    longitude: float
    mark: Mark
    # Where colours have a meaning of their own; without one it is not known here.
    shade: Shade | None = None
