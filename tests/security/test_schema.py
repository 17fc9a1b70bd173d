"""The API against its own description: data that fits it and data that does not.

Whatever is sent, there is no fault, and every answer has a status, a type and a shape that the
description names.
"""

from typing import Any

import pytest
import schemathesis
from django.conf import settings as django_settings
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from portal.accounts.models import Role
from portal.accounts.tokens import create_token
from portal.openapi import document
from portal.tasks import services
from tests.portal.tasks.conftest import spec_text

TASK = "trips-by-activity"
EXAMPLES = {"everyday": 2, "full": 150}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# Names that stand for something in the world of the test.
KNOWN = {"name": TASK, "task": TASK, "number": 1}


@pytest.fixture
def authorization(person: Any, catalog: Any, clock: Any) -> dict[str, str]:
    """Of somebody who may do everything, with a task in review."""
    catalog.write(django_settings.DATA / "streams")
    everyone = person(*Role.values)
    task = services.create_task(name=TASK, text=spec_text(TASK), actor=everyone, clock=clock)
    services.submit(task=task, version=1, actor=everyone, clock=clock)
    scopes = ["read", "author", "operate"]
    made = create_token(owner=everyone, name="x", scopes=scopes, lifetime_days=30, clock=clock)
    return {"Authorization": f"Bearer {made.secret}"}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_as_described(
    authorization: dict[str, str], mode: GenerationMode, size: str
) -> None:
    load_all_checks()
    schema = schemathesis.openapi.from_dict(document())
    schema.app = get_wsgi_application()
    found = []
    for operation in schema.get_all_operations():
        found += _faults(operation.ok(), authorization, mode, EXAMPLES[size])
    assert not found, f"{len(found)}: " + "\n".join(found)


def _faults(
    operation: Any, authorization: dict[str, str], mode: GenerationMode, examples: int
) -> list[str]:
    """What is wrong with the answers of one call; the first of each."""
    said: list[str] = []

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=examples < 10,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode), st.booleans())
    def try_it(case: Any, known: bool) -> None:
        if known:
            case.path_parameters |= {k: v for k, v in KNOWN.items() if k in case.path_parameters}
        answer = case.call(headers=authorization)
        try:
            case.validate_response(answer, checks=CHECKS)
        except (AssertionError, BaseExceptionGroup) as error:
            said.append(f"{operation.label}: {answer.status_code} {error}")

    try:
        try_it()
    except Exception as error:
        if type(error).__name__ not in ("Unsatisfiable", "SkipTest"):
            raise
    return said[:1]
