"""What the program imports is what `make setup` installs: tests install more, and would hide it."""

import ast
import re
import sys
from importlib.metadata import distributions, packages_distributions, requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = ("aggregation", "devices_sim", "portal")


def test_every_import_is_installed_by_the_requirements():
    installed = with_what_they_need(required(ROOT / "requirements.txt"))
    of_package = packages_distributions()
    missing = {
        name: path
        for name, path in imported().items()
        if not {plain(d) for d in of_package.get(name, ())} & installed
    }
    assert not missing, f"not in requirements.txt: {missing}"


def test_every_requirement_is_named_once():
    ours, tests = required(ROOT / "requirements.txt"), required(ROOT / "tests/requirements.txt")
    assert not ours & tests


def imported() -> dict[str, str]:
    """The packages of others, each with a file of ours that imports it."""
    files = [ROOT / "manage.py", *(f for folder in OURS for f in (ROOT / folder).rglob("*.py"))]
    return {
        name: str(file.relative_to(ROOT))
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        for name in names(node)
        if name not in sys.stdlib_module_names and name not in OURS
    }


def names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module.split(".")[0]]
    return []


def required(path: Path) -> set[str]:
    lines = path.read_text().splitlines()
    return {plain(line) for line in lines if line and line[0] not in "#-"}


def with_what_they_need(asked: set[str]) -> set[str]:
    found: set[str] = set()
    while asked:
        found |= asked
        needs = (need for name in asked for need in requires(name) or ())
        asked = {plain(need) for need in needs if "extra ==" not in need} - found
        asked = {name for name in asked if is_installed(name)}
    return found


def is_installed(name: str) -> bool:
    """Not every need of a package is a need here: some are for other systems."""
    return bool(list(distributions(name=name)))


def plain(requirement: str) -> str:
    """`celery[redis]==5.7.0` is celery, and Django-CSP is django-csp."""
    name = re.match(r"[\w.-]+", requirement)
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()
