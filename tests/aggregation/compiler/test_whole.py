"""Nothing of a server query is lost: its columns become keys, the window and sums, or no task."""

import pytest
from msgspec import UNSET

from aggregation.compiler import Compiled, Refused, compile_spec
from aggregation.compiler.guard import output, server
from aggregation.compiler.parse import Statement, parse
from tests.aggregation.compiler.corpus import BASE, Case, cases, catalog

CATALOG = catalog()
RULES = frozenset(rule.__name__ for rule in (*server.RULES, *output.RULES)) | {"mixed_types"}

# The column v is text in one stream and a number in the other, or nothing in both.
VALUES = {"mixed": ("'a'", "rating"), "nothing": ("NULL", "NULL")}
ASKED = [
    "v FROM device_results GROUP BY k",
    "v, SUM(n) AS n FROM device_results GROUP BY k",
    "MAX(v) AS v, SUM(n) AS n FROM device_results GROUP BY k",
    "SUM(v) AS v FROM device_results GROUP BY k",
    "v, SUM(n) AS n FROM device_results GROUP BY k, v",
]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_a_column_of_no_type_is_refused(values: tuple[str, str], asked: str) -> None:
    result = compile_spec(_case(values, asked).spec, CATALOG)
    assert isinstance(result, Refused)
    assert all(d.rule != "internal" for d in result.diagnostics)


@pytest.mark.parametrize("asked", ASKED[:3])
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_a_column_of_no_type_is_refused_though_the_rules_had_a_hole(
    values: tuple[str, str], asked: str
) -> None:
    assert isinstance(compile_spec(_case(values, asked).spec, CATALOG, without=RULES), Refused)


def test_what_is_accepted_without_the_rules_still_has_all_its_columns() -> None:
    for case in cases("hostile"):
        result = compile_spec(case.spec, CATALOG, without=RULES)
        if isinstance(result, Compiled) and result.client_task.step is UNSET:
            config = result.server_config
            shown = len(config.metrics) - len(config.hidden) + len(config.derived)
            assert config.metrics, case.name
            assert len(config.keys) + 1 + shown >= _columns(case), case.name


def _case(values: tuple[str, str], asked: str) -> Case:
    one, other = values
    rows = (
        f"SELECT activity AS k, privacy_time_unit, {one} AS v FROM trips "
        f"UNION ALL SELECT feature, privacy_time_unit, {other} FROM assistant"
    )
    counted = "SELECT k, privacy_time_unit, COUNT(*) AS n, MAX(v) AS v"
    document = {
        **BASE,
        "streams": ["trips", "assistant"],
        "client_sql": f"{counted} FROM ({rows}) GROUP BY k, privacy_time_unit",
        "server_sql": f"SELECT k, privacy_time_unit, {asked}, privacy_time_unit",
    }
    return Case(asked, document)


def _columns(case: Case) -> int:
    part = "sql" if "sql" in case.document else "server_sql"
    found = parse(part, case.document[part])
    assert isinstance(found, Statement)
    return len(found.root.args["expressions"])
