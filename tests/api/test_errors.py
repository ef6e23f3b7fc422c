"""The documented body of every error, exactly, plus `detail` and `code`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from api.errors import respond
from api.faults import first_fault, pointer_to
from api.schemas.add import Add
from api.schemas.base import Body
from api.schemas.projects import ProjectPatch
from api.schemas.search import Search
from core.domain.errors import CATALOGUE, MemlaneError
from tests.api.doubles import KEY, READ_ONLY_KEY
from tests.api.serving import Server

UNSCOPED = "One of the filters: app_id, user_id, agent_id, run_id is required!"
DOCUMENTED: list[tuple[str, int, dict[str, Any] | list[str]]] = [
    ("memory_id_invalid", 400, {"error": "memory_id should be a valid UUID"}),
    ("memory_not_found", 404, {"error": "Memory not found!"}),
    ("filters_unscoped", 400, {"message": UNSCOPED}),
    ("filters_unscoped_v1_list", 400, [UNSCOPED]),
    (
        "filters_unscoped_v1_search",
        400,
        {"message": "At least one of the filters: agent_id, user_id, app_id, run_id is required!"},
    ),
    ("page_invalid", 404, {"detail": "Invalid page."}),
    ("limit_too_large", 400, {"error": "limit must be <= 200"}),
    ("batch_update_too_large", 400, {"error": "Maximum of 1000 memories can be updated in a single request"}),
    ("batch_delete_too_large", 400, {"error": "Maximum of 1000 memories can be deleted in a single request"}),
    ("entity_type_invalid", 400, {"message": "Invalid entity type"}),
    ("entity_type_invalid_v1", 400, {"error": "Invalid entity type"}),
    ("entity_id_invalid", 400, {"error": "Invalid entity ID. Must be an integer."}),
    ("event_not_found", 404, {"error": "Event not found or you don't have permission to access it."}),
]


@pytest.mark.parametrize(("code", "status", "body"), DOCUMENTED)
def test_documented_bodies(code: str, status: int, body: dict[str, Any] | list[str]) -> None:
    error = MemlaneError(code)
    assert error.status == status
    if isinstance(body, list):
        assert error.as_body() == body
        return
    assert error.as_dict() == {"detail": error.message, "code": code} | body


def test_bad_add_input_has_its_documented_envelope() -> None:
    body = MemlaneError("add_invalid", pointer="messages[0]").as_dict()
    assert body["error"] == "400 Bad Request"
    assert body["details"] == {"message": "Invalid input data. Please refer to /docs."}
    assert body["detail"] == body["details"]["message"]
    assert body["pointer"] == "messages[0]"


def test_missing_and_invalid_filters() -> None:
    assert MemlaneError("filters_missing").as_dict()["error"].startswith("Filters are required and cannot be empty.")
    body = MemlaneError("filters_invalid", "Top-level key must be …").as_dict()
    assert body["filters"] == ["Top-level key must be …"]


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_every_answer_has_a_readable_text_and_unavailability_a_time(code: str) -> None:
    error = MemlaneError(code)
    answer = respond(error)
    assert answer.status_code == error.status
    if error.entry.shape != "array":
        assert error.as_dict()["detail"]
    assert ("Retry-After" in answer.headers) == (error.status in (429, 503))
    assert ("WWW-Authenticate" in answer.headers) == (error.status == 401)


def test_retry_after_is_an_integer_of_seconds() -> None:
    assert respond(MemlaneError("rate_limited", retry_after=7)).headers["Retry-After"] == "7"


def test_pointers() -> None:
    assert pointer_to(("body", "messages", 2, "content")) == "messages[2].content"
    assert pointer_to(("query", "page")) == "page"
    assert pointer_to(("body",)) == ""


@pytest.mark.parametrize(
    ("model", "sent", "told"),
    [
        (Search, {}, "query: Field required"),
        (Search, {"query": 5}, "query: must be a string"),
        (Search, {"query": "x", "top_k": 2.5}, "top_k: must be a whole number"),
        (
            Search,
            {"query": "x", "reference_date": ""},
            "reference_date: must be seconds since 1970 or an ISO 8601 time",
        ),
        (Search, {"query": "x", "reference_date": []}, "reference_date: must be a number or a string"),
        (Search, {"query": "x", "reference_date": 1e30}, "reference_date: must be seconds since 1970-01-01 (UTC)"),
        (Add, {"messages": [{"content": 5}]}, "messages[0].content: must be a string, an object or a list"),
        (Add, {"messages": {"content": 5}}, "messages.content: must be a string, an object or a list"),
        (
            Add,
            {"messages": [{"content": [{"type": "text"}]}]},
            "messages[0].content[0]: a part of type 'text' needs 'text'",
        ),
        (Add, {"messages": [{"content": ["x", {"type": 5}]}]}, "messages[0].content[1].type: must be a string"),
        (Add, {"messages": "x", "filters": {"userId": 5}}, "filters.userId: must be a string"),
        (ProjectPatch, {"custom_categories": [{"str": 5}]}, "custom_categories[0].str: must be a string"),
    ],
)
def test_a_fault_is_placed_in_what_was_sent_and_told_in_words_for_people(
    model: type[Body], sent: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(sent)
    errors = [{**error, "loc": ("body", *error["loc"])} for error in refused.value.errors()]
    assert str(first_fault(errors, sent)) == told


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Token",
        "Token ",
        "Bearer",
        KEY,
        f"Basic {KEY}",
        f"Token {KEY}x",
        f"Token {KEY} {KEY}",
        "Token " + "k" * 10_000,
        "Token kéy",
    ],
)
def test_anything_but_one_known_key_is_401(echo: Server, authorization: str | None) -> None:
    reply = echo.send("GET", "/v1/ping/", headers={"Authorization": authorization})
    assert (reply.status, reply.body["code"]) == (401, "unauthenticated")
    assert reply.body["detail"].startswith("Invalid API key.")
    assert "www-authenticate" in reply.headers


@pytest.mark.parametrize("authorization", [f"Token {KEY}", f"token {KEY}", f"Bearer {KEY}", f"BEARER  {KEY}"])
def test_both_schemes_are_known(echo: Server, authorization: str) -> None:
    assert echo.send("GET", "/v1/ping/", headers={"Authorization": authorization}).status == 200


def test_a_key_in_the_query_string_is_never_read(echo: Server) -> None:
    assert echo.send("GET", f"/v1/ping/?api_key={KEY}&token={KEY}", headers={"Authorization": None}).status == 401


def test_the_key_is_checked_before_the_body_is_read(echo: Server) -> None:
    assert echo.send("POST", "/v1/echo/", b"{broken", headers={"Authorization": "Token no"}).status == 401


def test_a_read_only_key_cannot_write(echo: Server) -> None:
    headers = {"Authorization": f"Token {READ_ONLY_KEY}"}
    assert echo.send("GET", "/v1/ping/", headers=headers).status == 200
    reply = echo.send("POST", "/v1/echo/", {"user_id": "u"}, headers=headers)
    assert (reply.status, reply.body["code"]) == (403, "forbidden")


def test_bad_add_input_over_http_names_the_field(echo: Server) -> None:
    reply = echo.send("POST", "/v1/echo-add/", {"user_id": 5})
    assert (reply.status, reply.body["error"]) == (400, "400 Bad Request")
    assert "user_id" in reply.body["details"]["message"]


def test_a_repeated_scope_parameter_is_refused(echo: Server) -> None:
    reply = echo.send("GET", "/v1/ping/?user_id=alice&user_id=bob")
    assert (reply.status, reply.body["code"]) == (400, "parameter_repeated")


def test_a_bug_answers_500_without_its_text(echo: Server) -> None:
    reply = echo.send("GET", "/v1/broken/", headers={"X-Request-Id": "bug-1"})
    assert (reply.status, reply.body["code"], reply.body["request_id"]) == (500, "internal", "bug-1")
    assert b"secret" not in reply.raw


def test_the_page_about_http_lists_the_whole_catalogue() -> None:
    page = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
    listed = [line for line in page.splitlines() if line.startswith("| `")]
    assert listed == [f"| `{entry.code}` | {entry.status} | {entry.message} |" for entry in CATALOGUE.values()]
