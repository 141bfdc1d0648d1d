"""The service keeps to its own OpenAPI document, whatever it is asked."""

from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ingram.serve.app import create_app
from tests.serve.services import shelf_of

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def document(run):
    shelf = shelf_of(run, triples=1_000, entities=1_000, relations=50)
    yield schemathesis.openapi.from_asgi("/openapi.json", create_app(shelf))
    shelf.close()


@pytest.mark.parametrize("mode", GenerationMode)
def test_no_request_breaks_it(document, mode):
    asked = 0
    for found in document.get_all_operations():

        @settings(max_examples=15, database=None, suppress_health_check=list(HealthCheck))
        @given(case=found.ok().as_strategy(generation_mode=mode))
        def ask(case):
            case.call_and_validate(checks=CHECKS)

        with suppress(Unsatisfiable):  # a route that takes nothing cannot be asked wrongly
            ask()
            asked += 1
    assert asked >= 12
