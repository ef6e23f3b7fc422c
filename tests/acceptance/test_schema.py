"""Schemathesis on the running stack: sequences of requests along the links of the OpenAPI document.

Single requests are in tests/api/test_fuzzing.py; here one answer feeds the next request, deletions included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ensure_resource_availability,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
    use_after_free,
)

from tests.acceptance.account import account
from tests.conftest import Stack, TestProject

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
    use_after_free,
    ensure_resource_availability,
]
BOUNDS = hypothesis.settings(
    max_examples=40,
    stateful_step_count=8,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
SOMEBODY = {"user_id": "alice"}
HOOK = {"url": "http://127.0.0.1:9/hook", "name": "hook", "event_types": ["ingest_job_failed"]}


FILTERED = ("get_memories", "get_memories_v2", "search_memories", "search_memories_v2")


def make_sense(case: schemathesis.Case) -> None:
    """Bodies get what chance does not find: filters that name somebody, an endpoint that is allowed."""
    operation = case.operation.definition.raw["operationId"]
    if operation == "post_webhook":
        case.body = {**HOOK, "is_active": case.body.get("is_active")}
    elif operation in FILTERED:
        case.body["filters"] = SOMEBODY
    elif operation == "put_memory":
        case.body.setdefault("metadata", {"changed": True})


def test_whatever_follows_from_an_answer_is_answered_as_documented(
    stack: Stack, new_project: Callable[[], TestProject]
) -> None:
    """Every sequence runs in a project of its own, so that it can be replayed."""
    schema = schemathesis.openapi.from_url(f"{stack.url}/openapi.json")
    schema.config.generation.update(modes=[GenerationMode.POSITIVE])
    served: set[str] = set()

    class Requests(schema.as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            self.project = new_project()
            with account(self.project) as owner:
                owner.verbatim("I ski in Chamonix", "I sail in Brest", **SOMEBODY)

        def before_call(self, case: schemathesis.Case) -> None:
            make_sense(case)

        def get_call_kwargs(self, case: schemathesis.Case) -> dict[str, Any]:
            return {"headers": self.project.headers, "timeout": 30}

        def validate_response(self, response: schemathesis.Response, case: schemathesis.Case, **_: Any) -> None:
            if response.status_code < 300:
                served.add(case.operation.definition.raw["operationId"])
            case.validate_response(response, checks=CHECKS, headers=self.project.headers)

    Requests.run(settings=BOUNDS)
    assert len(served) >= 12, served
