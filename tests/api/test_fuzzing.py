"""Schemathesis over the OpenAPI document: whatever it thinks of, the answer is a documented one and no bug."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    response_schema_conformance,
    status_code_conformance,
)

from api.app import create_app
from tests.api.doubles import FewParts
from tests.api.world import Caller, World

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    ignored_auth,
]


schema = schemathesis.openapi.from_dict(create_app(FewParts()).openapi())


@pytest.fixture(scope="module")
def fuzzed(api: World) -> Caller:
    """A project that holds a memory; a worker shows its heartbeat."""
    caller = api.project("fuzzed")
    caller.add("I love hiking")
    with api.parts.database.operations() as tx:
        tx.ops.beat("w", "ingest", {})
    return caller


@schema.parametrize()
@settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_a_documented_one(case: schemathesis.Case, fuzzed: Caller) -> None:
    case.call_and_validate(
        base_url=fuzzed.world.server.url,
        headers={"Authorization": f"Token {fuzzed.key}"},
        checks=CHECKS,
        timeout=20,
    )
