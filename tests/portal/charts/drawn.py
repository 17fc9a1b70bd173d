"""A chart as its tests see it: a tree of elements."""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG = "{http://www.w3.org/2000/svg}"


def tree(svg: str) -> Element:
    return ElementTree.fromstring(svg)  # noqa: S314 # our own


def of_class(svg: str, name: str) -> list[Element]:
    return [one for one in tree(svg).iter() if name in one.attrib.get("class", "").split()]


def words(svg: str) -> list[str]:
    """What is written on the drawing."""
    return [one.text or "" for one in tree(svg).iter(f"{SVG}text")]


def tooltips(svg: str) -> list[str]:
    """What the marks say, without the chart's own title."""
    return [one.text or "" for one in tree(svg).iter(f"{SVG}title")][1:]
