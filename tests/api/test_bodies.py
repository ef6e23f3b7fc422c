"""The strict JSON reader: what is refused, with which code; and that what it accepts is what was meant."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.body import MAX_DEPTH, MAX_NODES, check_media_type, parse_object
from core.domain.errors import MemlaneError
from tests.api.doubles import HEADERS
from tests.api.serving import Server

BIG = b'{"user_id":"' + b"x" * 5000 + b'"}'


def refusal(raw: bytes) -> str:
    with pytest.raises(MemlaneError) as caught:
        parse_object(raw)
    assert caught.value.status == 400
    return caught.value.code


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "body_missing"),
        (b"  \n", "body_missing"),
        (b"hello", "json_invalid"),
        (b'{"a":', "json_invalid"),
        (b'{"a":1} x', "json_invalid"),
        (b'{"a":1}{"a":1}', "json_invalid"),
        (b'{"a":1,}', "json_invalid"),
        (b"[]", "not_an_object"),
        (b"null", "not_an_object"),
        (b'"x"', "not_an_object"),
        (b"7", "not_an_object"),
        (b'\xef\xbb\xbf{"a":1}', "json_invalid"),
        ('{"a":1}'.encode("utf-16"), "json_invalid"),
        (b'{"a":"\xe9"}', "json_invalid"),
        (b'{"a":"\xc0\xaf"}', "json_invalid"),
        (b'{"a":"\xed\xa0\x80"}', "json_invalid"),
        (b'{"a":"\\ud800"}', "nul_character"),
        (b'{"\\udfff":1}', "nul_character"),
        (b'{"a":["x","b\\u0000c"]}', "nul_character"),
        (b'{"a":"b\x00c"}', "json_invalid"),
        (b'{"a":NaN}', "json_number_out_of_range"),
        (b'{"a":-Infinity}', "json_number_out_of_range"),
        (b'{"a":{"b":1e999}}', "json_number_out_of_range"),
        (b'{"a":' + b"9" * 5000 + b"}", "json_number_out_of_range"),
        (b'{"a":9223372036854775808}', "json_number_out_of_range"),
        (b'{"user_id":"alice","user_id":"bob"}', "json_duplicate_key"),
        (b'{"a":{"b":1,"\\u0062":2}}', "json_duplicate_key"),
        (b'{"a":' + b"[" * 500 + b"]" * 500 + b"}", "json_too_deep"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "json_too_deep"),
        (b'{"a":[' + b",".join([b"1"] * (MAX_NODES + 1)) + b"]}", "json_too_deep"),
    ],
)
def test_bad_json_is_named(raw: bytes, code: str) -> None:
    assert refusal(raw) == code


def test_the_bounds_themselves_are_accepted() -> None:
    deep: Any = "x"
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    assert parse_object(json.dumps({"a": deep}).encode()) == {"a": deep}
    assert refusal(json.dumps({"a": [deep]}).encode()) == "json_too_deep"
    edges = {
        "low": -(2**63),
        "high": 2**63 - 1,
        "zero": -0.0,
        "tiny": 1e-400,
        "emoji": "\U0001f600",
        "fffe": "\ufffe",
    }
    assert parse_object(json.dumps(edges).encode()) == edges


_plain = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
_values = st.recursive(
    _plain | _text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_text, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(_text, _values, max_size=5))
@settings(max_examples=150, deadline=None)
def test_every_storable_object_is_read_as_it_was_written(value: dict[str, Any]) -> None:
    assert parse_object(json.dumps(value).encode()) == value
    assert parse_object(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_arbitrary_bytes_are_read_or_refused_with_a_code(raw: bytes) -> None:
    try:
        parsed = parse_object(raw)
    except MemlaneError as error:
        status = error.status
    else:
        status = 200 if isinstance(parsed, dict) else 500
    assert status in (200, 400)


@given(st.text(alphabet='{}[]",:0123456789eE.-\\u tfnaN', max_size=60))
@settings(max_examples=300, deadline=None)
def test_what_looks_like_json_agrees_with_the_standard_reader(text: str) -> None:
    """Whatever is accepted means the same to the standard library; stricter is fine, different is not."""
    try:
        ours = parse_object(text.encode())
    except MemlaneError:
        return
    assert ours == json.loads(text)


@pytest.mark.parametrize(
    ("kind", "encoding"),
    [
        ("text/plain", None),
        ("application/x-www-form-urlencoded", None),
        ("multipart/form-data; boundary=x", None),
        ("application/merge-patch+json", None),
        ("application/json; charset=utf-16", None),
        ("application/json", "gzip"),
    ],
)
def test_other_media_types_are_415(kind: str, encoding: str | None) -> None:
    with pytest.raises(MemlaneError, match="unsupported_media_type"):
        check_media_type(kind, encoding)


@pytest.mark.parametrize("kind", [None, "", "application/json", "Application/JSON; charset=UTF-8"])
def test_json_and_a_missing_type_are_read(kind: str | None) -> None:
    check_media_type(kind, "identity" if kind else None)


def test_a_body_without_content_type_reaches_the_route(echo: Server) -> None:
    assert echo.send("POST", "/v1/echo/", b'{"user_id":"u"}').body == {"user_id": "u"}


def test_the_limit_holds_for_declared_and_chunked_bodies(echo: Server) -> None:
    declared = echo.send("POST", "/v1/echo/", BIG)
    assert (declared.status, declared.body["code"]) == (413, "body_too_large")
    chunked = echo.send("POST", "/v1/echo/", iter([BIG[:3000], BIG[3000:]]))
    assert (chunked.status, chunked.body["code"]) == (413, "body_too_large")
    small = echo.send("POST", "/v1/echo/", iter([b'{"user_', b'id":"u"}']))
    assert (small.status, small.body) == (200, {"user_id": "u"})


def test_wrong_types_are_400_with_their_place_and_without_the_input(echo: Server) -> None:
    reply = echo.send("POST", "/v1/echo/", {"user_id": {"secret": "input"}, "unknown": 1})
    assert reply.status == 400
    assert (reply.body["code"], reply.body["pointer"]) == ("validation_failed", "user_id")
    assert b"secret" not in reply.raw
    assert b"input" not in reply.raw.replace(b"Invalid input data", b"").replace(b"Input should", b"")


def test_a_body_that_does_not_arrive_is_given_up(echo: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.body.BODY_DEADLINE", 0.2)
    with socket.create_connection(("127.0.0.1", echo.port), timeout=20) as connection:
        head = f"POST /v1/echo/ HTTP/1.1\r\nHost: x\r\nAuthorization: {HEADERS['Authorization']}\r\n"
        connection.sendall(f'{head}Content-Length: 100\r\n\r\n{{"user_id":'.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 408 ")
