"""The bad inputs of the HTTP API: what is sent, and what must come of it.

Each entry has the number of its row in the list this was drawn from, 1 to 100. `refused` names the status and the
code of the catalogue, and means that nothing is left behind; `read` is an input that is tolerated, with the reading
that the documentation gives. Rows that are held by a test of their own stand in ELSEWHERE.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.api.world import Caller

ADD, SEARCH, LIST = "/v3/memories/add/", "/v3/memories/search/", "/v3/memories/"
CANARY = "canary-5c1f"  # no answer repeats what was sent
SAID = [{"role": "user", "content": f"My code is {CANARY}"}]
ID = "01a20000-0000-7000-8000-000000000000"


@dataclass(frozen=True)
class Bad:
    row: int
    what: str
    status: int
    code: str | None = None
    method: str = "POST"
    target: str = ADD
    body: Any = None
    headers: Mapping[str, str | None] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.row}-{self.what[:60]}"

    def sent(self) -> Any:
        """The body; one that comes in chunks is made anew for each sending."""
        return self.body() if callable(self.body) else self.body

    def target_for(self, caller: Caller) -> str:
        return self.target.replace("KEY", caller.key).replace("PROJECT", f"proj_{caller.project_id.hex}")


def raw(row: int, what: str, sent: bytes, code: str, status: int = 400, kind: str | None = "application/json") -> Bad:
    return Bad(row, what, status, code, body=sent, headers={"Content-Type": kind})


def inside(row: int, what: str, value: bytes, code: str) -> Bad:
    """A well-formed add but for one value in its metadata."""
    start = json.dumps({"messages": SAID, "user_id": CANARY, "infer": False}).encode()[:-1]
    return raw(row, what, start + b',"metadata":{"v":' + value + b"}}", code)


def add(row: int, what: str, code: str = "add_invalid", status: int = 400, **changed: Any) -> Bad:
    body = {"messages": SAID, "user_id": CANARY, "infer": False, **changed}
    return Bad(row, what, status, code, body={key: value for key, value in body.items() if value is not ...})


def search(row: int, what: str, code: str = "filters_invalid", status: int = 400, **changed: Any) -> Bad:
    return Bad(row, what, status, code, target=SEARCH, body={"query": "tea", "filters": {"user_id": "u"}, **changed})


def get(row: int, what: str, target: str, code: str, status: int = 400, method: str = "GET") -> Bad:
    return Bad(row, what, status, code, method, target)


def nested(depth: int, opening: bytes = b"[", closing: bytes = b"]", core: bytes = b"1") -> bytes:
    return opening * depth + core + closing * depth


def chunks(size: int) -> Iterator[bytes]:
    for _ in range(size // 65_536 + 1):
        yield b" " * 65_536


def deep_not(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {"run_id": "r"}
    for _ in range(depth):
        found = {"NOT": found}
    return {"user_id": "u", **found}


def deep_filter(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {"user_id": "u"}
    for _ in range(depth):
        found = {"AND": [found]}
    return found


BODIES = [
    raw(1, "no body", b"", "body_missing"),
    raw(2, "no JSON", b"hello", "json_invalid"),
    raw(3, "cut short", b'{"messages": [', "json_invalid"),
    raw(4, "trailing garbage", b'{"user_id": "u"} x', "json_invalid"),
    raw(4, "two documents", b'{"user_id": "u"}{"user_id": "u"}', "json_invalid"),
    *(raw(5, f"top level {text}", text.encode(), "not_an_object") for text in ("[]", "null", '"x"', "7")),
    raw(6, "byte-order mark", b'\xef\xbb\xbf{"user_id": "u"}', "json_invalid"),
    raw(7, "UTF-16", '{"user_id": "u"}'.encode("utf-16"), "json_invalid"),
    raw(7, "charset UTF-16", b"{}", "unsupported_media_type", 415, "application/json; charset=utf-16"),
    inside(8, "Latin-1", b'"\xe9"', "json_invalid"),
    inside(9, "overlong UTF-8", b'"\xc0\xaf"', "json_invalid"),
    inside(10, "surrogate in UTF-8", b'"\xed\xa0\x80"', "json_invalid"),
    inside(11, "lone surrogate", b'"\\ud800"', "nul_character"),
    inside(12, "escaped NUL", b'"a\\u0000b"', "nul_character"),
    inside(13, "raw NUL", b'"a\x00b"', "json_invalid"),
    add(14, "number as text in a float field", timestamp="1684922400"),
    *(
        inside(row, name.decode(), name, "json_number_out_of_range")
        for row, name in (
            (14, b"NaN"),
            (15, b"Infinity"),
            (15, b"-Infinity"),
            (16, b"1e999"),
            (17, b"[NaN]"),
            (18, b"9" * 5000),
            (19, b"9223372036854775808"),
            (19, b"18446744073709551616"),
            (20, b"1E400"),
        )
    ),
    inside(21, "arrays 500 deep", nested(500), "json_too_deep"),
    inside(22, "arrays 5,000 deep", nested(5_000), "json_too_deep"),
    inside(22, "arrays 200,000 deep", nested(200_000), "json_too_deep"),
    inside(23, "objects 990 deep", nested(990, b'{"a":', b"}"), "json_too_deep"),
    add(24, "100,000 keys", "json_too_deep", metadata={str(n): 1 for n in range(100_000)}),
    add(24, "257 keys", metadata={str(n): 1 for n in range(257)}),
    add(25, "key of 1 MB", "json_invalid", metadata={"k" * 1_000_000: 1}),
    raw(26, "duplicate key", b'{"user_id": "alice", "user_id": "bob"}', "json_duplicate_key"),
    *(add(30, f"user_id {value!r}", user_id=value) for value in (7, True, ["a"], {})),
    *(add(31, f"user_id {value[:6]!r}", user_id=value) for value in ("", "  ", "a" * 257, "*", "..", "a\nb")),
    add(33, "no id", "scope_missing", user_id=...),
    add(34, "messages a number", messages=7),
    add(35, "no message", messages=[]),
    add(36, "10,000 messages", messages=SAID * 10_000),
    *(add(37, f"content {value!r}", messages=[{"role": "user", "content": value}]) for value in ("", "  \n")),
    raw(38, "10 MB", b" " * 10_000_000, "body_too_large", 413),
    Bad(39, "3 MB chunked", 413, "body_too_large", body=lambda: chunks(3_000_000)),
    Bad(
        40,
        "compressed",
        415,
        "unsupported_media_type",
        body=b"{}",
        headers={"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ),
    *(add(41, f"role {role}", messages=[{"role": role, "content": CANARY}]) for role in ("root", "SYSTEM")),
    *(
        raw(43, kind, b"{}", "unsupported_media_type", 415, kind)
        for kind in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data")
    ),
    raw(44, "merge patch", b"{}", "unsupported_media_type", 415, "application/merge-patch+json"),
    *(
        add(79, f"expiration_date {value}", expiration_date=value)
        for value in (
            "2026-02-30",
            "0000-01-01",
            "99999-01-01",
            "tomorrow",
            "2026-01-01T00:00:00+25:00",
            "2016-12-31T23:59:60Z",
        )
    ),
    *(add(79, f"timestamp {value}", timestamp=value) for value in (10**12, -(10**12), "yesterday")),
]
PATHS = [
    Bad(
        49, "200 headers", 431, "headers_too_large", "GET", "/v1/ping/", headers={f"X-H{n}": "1" for n in range(200)}
    ),
    Bad(49, "header of 100 KB", 431, "headers_too_large", "GET", "/v1/ping/", headers={"X-Long": "h" * 100_000}),
    get(50, "address of 60 KB", "/v1/events/?x=" + "a" * 60_000, "url_too_long", 414),
    *(
        Bad(51, f"Host {host!r}", 400, "host_invalid", "GET", "/v1/events/", headers={"Host": host})
        for host in ("", "[", "a b", "evil.example/x", "a@b", "h:port")
    ),
    *(get(53, f"page {value}", f"/v1/events/?page={value}", "page_invalid", 404) for value in ("-1",)),
    *(
        get(53, f"page_size {value}", f"/v1/events/?page_size={value}", "validation_failed")
        for value in ("-1", "10.5", "x", "1e9")
    ),
    get(53, "limit 0", "/v1/memories/events/?limit=0", "validation_failed"),
    get(53, "limit too large", "/v1/memories/events/?limit=1000000000", "validation_failed"),
    get(53, "page of 30 digits", f"/v1/events/?page={'9' * 30}", "validation_failed"),
    get(53, "NUL in a number", "/v1/events/?page=%00", "url_invalid"),
    get(54, "page twice", "/v1/events/?page=1&page=2", "parameter_repeated"),
    get(
        54,
        "a date twice",
        "/v1/memories/?user_id=u&start_date=2026-01-01&start_date=2026-02-01",
        "parameter_repeated",
    ),
    *(get(55, f"query {text}", f"/v1/events/?event_type={text}", "url_invalid") for text in ("%ff%fe", "%ed%a0%80")),
    get(56, "NUL in the query", "/v1/events/?event_type=a%00b", "url_invalid"),
    *(search(57, f"query {value!r}", "validation_failed", query=value) for value in ("", "  ")),
    search(57, "query of 100,000 characters", "validation_failed", query="a" * 100_000),
    *(get(58, path, path, "not_found", 404) for path in ("/q", "/v1/%2e%2e/x/", "/v9/memories/")),
    *(Bad(59, f"{method} of an add", 405, "method_not_allowed", method, ADD) for method in ("PUT", "GET", "TRACE")),
    *(get(61, f"event {text}", f"/v1/event/{text}/", "event_not_found", 404) for text in ("abc", f"{ID}%0a", ID)),
    *(
        get(61, f"memory {text}", f"/v1/memories/{text}/", code, status)
        for text, code, status in (("abc", "memory_id_invalid", 400), (ID, "memory_not_found", 404))
    ),
    *(
        Bad(64, f"Authorization {value!r}", 401, "unauthenticated", headers={"Authorization": value}, body={})
        for value in (None, "Bearer", "Basic abc", "Token " + "k" * 10_240, "Token m0-wrong", "Token a b")
    ),
    Bad(
        64,
        "key in the query",
        401,
        "unauthenticated",
        "GET",
        "/v1/events/?api_key=KEY",
        headers={"Authorization": None},
    ),
    *(
        Bad(
            66,
            f"Idempotency-Key {value[:4]!r}",
            400,
            "idempotency_key_invalid",
            body={"messages": SAID, "user_id": "u"},
            headers={"Idempotency-Key": value},
        )
        for value in ("", "k" * 256, "k\xe9", "a b")
    ),
]
NESTED = b'{"query":"tea","filters":' + nested(1_000, b'{"AND":[', b"]}", b'{"user_id":"u"}') + b"}"
FILTERS = [
    *(search(72, key, filters={"user_id": "u", key: 1}) for key in ("user_id' OR 1=1--", "payload.user_id", "a[0]")),
    Bad(73, "nested 1,000 deep", 400, "json_too_deep", target=SEARCH, body=NESTED),
    search(73, "nested 17 deep", "json_too_deep", filters=deep_filter(17)),
    search(73, "nested 17 deep, without arrays", filters=deep_not(17)),
    search(73, "10,000 values", filters={"user_id": {"in": [str(n) for n in range(10_000)]}}),
    search(73, "AND of nothing", filters={"AND": []}),
    *(search(73, f"operator {name}", filters={"user_id": {name: "u"}}) for name in ("like", "$ne", "__eq__")),
    *(
        search(74, pattern[:6], filters={"user_id": {"regex": pattern}})
        for pattern in ("(a+)+$", "(.*a){30}", "a" * 9999)
    ),
    search(79, "a day that is none", filters={"user_id": "u", "created_at": {"gte": "2026-02-30"}}),
    search(
        79, "an offset that is none", filters={"user_id": "u", "created_at": {"gte": "2026-01-01T00:00:00+25:00"}}
    ),
]
DELETES = [
    get(86, "no scope", "/v1/memories/", "filters_unscoped", 400, "DELETE"),
    get(86, "an empty id", "/v1/memories/?user_id=", "validation_failed", 400, "DELETE"),
    Bad(
        87,
        "10,001 ids",
        400,
        "batch_delete_too_large",
        "DELETE",
        "/v1/batch/",
        {"memories": [{"memory_id": ID}] * 10_001},
    ),
    Bad(
        87,
        "an id that is none",
        400,
        "memory_id_invalid",
        "DELETE",
        "/v1/batch/",
        {"memories": [{"memory_id": "abc"}]},
    ),
    Bad(87, "an unknown id", 404, "memory_not_found", "DELETE", "/v1/batch/", {"memories": [{"memory_id": ID}]}),
]
INTERNAL = (
    "http://127.0.0.1",
    "http://[::1]",
    "http://0",
    "http://2130706433",
    "http://0x7f000001",
    "http://0177.0.0.1",
    "http://127.1",
    "http://①②⑦.0.0.1",
    "http://127。0。0。1",
    "http://[::ffff:7f00:1]",
    "http://[64:ff9b::7f00:1]",
    "http://[2002:7f00:1::]",
)
ODD = (
    "file:///etc/passwd",
    "gopher://h",
    "ftp://h/x",
    "javascript:alert(1)",
    "example.com",
    "https://user:pw@h.example",
    "https://h#@evil.example",
    "https://h\\@evil.example",
    "https://exa\tmple.com",
    "https://exa\nmple.com",
    "https://example.com:0",
    "https://example.com:22",
    "https://example.com:99999",
    "https://localhost.",
    "https://metadata.google.internal",
)
WEBHOOKS = [
    Bad(
        row,
        url[:40],
        400,
        "webhook_not_allowed",
        target="/api/v1/webhooks/projects/PROJECT/",
        body={"name": "h", "event_types": ["memory_add"], "url": url},
    )
    for row, urls in ((81, INTERNAL), (82, ODD))
    for url in urls
] + [
    Bad(
        82,
        "3,000 characters",
        400,
        "validation_failed",
        target="/api/v1/webhooks/projects/PROJECT/",
        body={"name": "h", "event_types": ["memory_add"], "url": "https://example.com/" + "a" * 3_000},
    ),
    Bad(
        82,
        "an event type of no kind",
        400,
        "validation_failed",
        target="/api/v1/webhooks/projects/PROJECT/",
        body={"name": "h", "event_types": [CANARY], "url": "https://example.com/"},
    ),
]
REFUSED = [*BODIES, *PATHS, *FILTERS, *DELETES, *WEBHOOKS]
ELSEWHERE = {
    65: "tests/api/test_projects.py: a revoked key; tests/api/test_errors.py: a key that may only read",
    88: "tests/api/test_memories.py: If-Match",
    89: "tests/api/test_rate_limits.py: 429 with Retry-After, other keys unaffected",
    90: "tests/api/test_rate_limits.py: polls count as requests do",
    91: "tests/unit/test_extract_model.py: what messages demand changes no scope and no policy",
    92: "tests/unit/test_extract_model.py: turns are JSON lines, the answer is read by a schema",
    93: "tests/unit/test_telemetry.py: secrets never reach a log",
}
