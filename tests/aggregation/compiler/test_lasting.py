"""What is accepted is kept and sent as JSON: read again, it is what it was."""

from math import inf, nan

import msgspec
import pytest

from aggregation.compiler import Compiled, compile_spec
from aggregation.compiler.backstops import lasting
from aggregation.protocol.server_config import Derived
from tests.aggregation.compiler.corpus import Case, cases, catalog

CATALOG = catalog()


@pytest.mark.parametrize("case", cases("good"), ids=lambda case: case.name)
def test_it_works(case: Case) -> None:
    result = compile_spec(case.spec, CATALOG)
    assert isinstance(result, Compiled)
    assert lasting(result.client_task)
    assert lasting(result.server_config)


@pytest.mark.parametrize("factor", [inf, -inf, nan])
def test_a_number_that_json_has_no_word_for_does_not_last(factor: float) -> None:
    result = compile_spec(cases("good")[0].spec, CATALOG)
    assert isinstance(result, Compiled)
    derived = Derived(name="x", numerator="n", denominator="n", factor=factor)
    config = msgspec.structs.replace(result.server_config, derived=(derived,))
    assert not lasting(config)
