"""Paths, slashes, prefixes, CORS, request ids, the log line."""

from __future__ import annotations

import pytest

from api.transport import canonical_path
from core.domain.errors import MemlaneError
from tests.api.doubles import PROJECT, FewParts
from tests.api.serving import Server
from tests.api.world import World


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/v1/echo/plain/", "plain"),
        ("/v1/echo/plain", "plain"),
        ("/v1/echo/owner%2Frepo/", "owner/repo"),
        ("/v1/echo/owner%2frepo", "owner/repo"),
        ("/v1/echo/a%3Fb/", "a?b"),
        ("/v1/echo/a%23b/", "a#b"),
        ("/v1/echo/50%25%26%3D/", "50%&="),
        ("/v1/echo/100%252F/", "100%2F"),
        ("/v1/echo/a%20b/", "a b"),
        ("/v1/echo/a+b/", "a+b"),
        ("/v1/echo/%E7%94%A8%E6%88%B7%E4%B8%80/", "用户一"),
        ("/v1/echo/O'Brien/", "O'Brien"),
        ("/v1/echo/a@b.c/", "a@b.c"),
        ("/v1/echo/%2E%2E/", ".."),
        ("//v1/echo/x/", "x"),
        ("///v1//echo///x//", "x"),
        ("/prefix/v1/echo/x/", "x"),
        ("/a/b/v1/echo/v1%2Fx/?source=CLI", "v1/x"),
    ],
)
def test_segments_arrive_decoded_and_whole(echo: Server, target: str, name: str) -> None:
    reply = echo.send("GET", target)
    assert (reply.status, reply.body) == (200, {"name": name})


def test_an_encoded_slash_does_not_make_a_segment(echo: Server) -> None:
    assert echo.send("GET", "/v1/echo/x%2Fhistory/").body == {"name": "x/history"}
    assert echo.send("GET", "/v1/echo/x/history/").body == {"history_of": "x"}


@pytest.mark.parametrize("target", ["/v1/echo/%ff/", "/v1/echo/%ed%a0%80/", "/v1/echo/a%00b/", "/v1/ping/?q=%ff%fe"])
def test_an_undecodable_url_is_refused(echo: Server, target: str) -> None:
    reply = echo.send("GET", target)
    assert (reply.status, reply.body["code"]) == (400, "url_invalid")


@pytest.mark.parametrize(
    ("raw", "root", "path"),
    [
        (b"/", "", "/"),
        (b"/healthz", "", "/healthz"),
        (b"/v1/ping", "", "/v1/ping/"),
        (b"/docs/", "", "/docs"),
        (b"/p/api/v1/orgs/organizations/o/projects/x", "/p", "/p/api/v1/orgs/organizations/o/projects/x/"),
        (b"/nowhere/at/all", "", "/nowhere/at/all"),
        (b"/v2/entities/app/v1%2Fx/", "", "/v2/entities/app/v1%2Fx/"),
    ],
)
def test_canonical_paths(raw: bytes, root: str, path: str) -> None:
    assert canonical_path(raw) == (root, path)


def test_canonical_path_refuses_what_is_not_utf8() -> None:
    with pytest.raises(MemlaneError, match="url_invalid"):
        canonical_path(b"/v1/%c0%af/")


def test_ping_tells_string_ids_and_a_neutral_address(echo: Server) -> None:
    body = echo.send("GET", "/v1/ping/").body
    assert body["status"] == "ok"
    assert body["project_id"] == f"proj_{PROJECT.hex}"
    assert body["org_id"].startswith("org_")
    assert "@" in body["user_email"]


def test_no_path_answers_with_a_redirect_for_a_slash(echo: Server) -> None:
    for target in ("/v1/ping", "/v1/ping/", "//v1/ping", "/healthz", "/healthz/"):
        assert echo.send("GET", target).status == 200, target


def test_unknown_paths_and_methods_answer_in_json(echo: Server) -> None:
    missing = echo.send("GET", "/v1/nothing/here/")
    assert (missing.status, missing.body["code"]) == (404, "not_found")
    wrong = echo.send("DELETE", "/v1/echo/x/")
    assert (wrong.status, wrong.body["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "GET, OPTIONS"


def test_a_preflight_allows_every_header_that_clients_send(echo: Server) -> None:
    asked = "authorization,content-type,idempotency-key,mem0-user-id,x-mem0-client,x-application"
    reply = echo.send(
        "OPTIONS",
        "/v3/memories/add/",
        headers={
            "Authorization": None,
            "Origin": "https://app.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": asked,
        },
    )
    assert reply.status == 200
    assert reply.headers["access-control-allow-origin"] == "*"
    assert set(asked.split(",")) <= {
        h.strip() for h in reply.headers["access-control-allow-headers"].lower().split(",")
    }


def test_a_request_id_is_echoed_when_plain_and_made_when_not(echo: Server) -> None:
    assert echo.send("GET", "/v1/ping/", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    made = echo.send("GET", "/v1/ping/", headers={"X-Request-Id": "a b; c"}).headers["x-request-id"]
    assert len(made) == 36


def test_one_log_record_per_request_names_the_route_and_no_content(echo: Server, parts: FewParts) -> None:
    echo.send("GET", "/v1/echo/very-private-name/?q=private", headers={"X-Request-Id": "rec-1"})
    name, fields = parts.telemetry.of_request("rec-1")
    assert name == "request"
    assert fields["route"] == "/v1/echo/{name}/"
    assert (fields["status"], fields["project_id"]) == (200, str(PROJECT))
    assert "private" not in repr(fields)


@pytest.mark.parametrize(("path", "allowed"), [("events", "GET, OPTIONS"), ("search", "OPTIONS, POST")])
def test_a_fixed_name_beside_memory_ids_is_no_id(api: World, path: str, allowed: str) -> None:
    reply = api.project().send("PUT", f"/v1/memories/{path}/", {"text": "x"})
    assert (reply.status, reply.headers["allow"]) == (405, allowed)
