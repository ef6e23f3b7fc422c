"""The strict JSON reader: what two parsers could read differently, or PostgreSQL could not store, is refused here.

Duplicate keys are the important case: one reader takes the first `user_id`, another the last, and a scope check
that saw one of them guards nothing.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request

from core.domain.errors import MemlaneError

MAX_DEPTH = 32
MAX_NODES = 50_000
MAX_KEY = 1024
BODY_DEADLINE = 10.0  # seconds for the whole body to arrive
INT64 = range(-(2**63), 2**63)


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body, counted as it arrives, so that a chunked body meets the same limit. Raises 413 and 408."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise too_large(limit)
    try:
        async with asyncio.timeout(BODY_DEADLINE):
            return await _collect(request, limit)
    except TimeoutError:
        raise MemlaneError("body_timeout") from None


async def _collect(request: Request, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise too_large(limit)
        chunks.append(chunk)
    return b"".join(chunks)


def too_large(limit: int) -> MemlaneError:
    return MemlaneError("body_too_large", f"The body is larger than this server accepts ({limit} bytes).")


def check_media_type(content_type: str | None, content_encoding: str | None) -> None:
    """JSON in UTF-8, uncompressed; a missing Content-Type is taken for that. Raises 415."""
    if content_encoding and content_encoding.strip().lower() != "identity":
        raise MemlaneError("unsupported_media_type", "Compressed bodies are not supported.")
    if not content_type:
        return
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    if kind != "application/json":
        raise MemlaneError("unsupported_media_type")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip(' "') not in ("utf-8", "utf8", "us-ascii"):
            raise MemlaneError("unsupported_media_type")


def parse_object(raw: bytes) -> dict[str, Any]:
    """One JSON object (RFC 8259), within the bounds above. Raises MemlaneError with a 400 code."""
    if not raw.strip():
        raise MemlaneError("body_missing")
    value = _parse(raw)
    if not isinstance(value, dict):
        raise MemlaneError("not_an_object")
    _check(value)
    return value


def _parse(raw: bytes) -> Any:
    try:
        return _DECODER.decode(raw.decode("utf-8"))  # strict: no overlong forms, surrogates or UTF-16; a BOM fails
    except UnicodeDecodeError:
        raise MemlaneError("json_invalid", "The body is not valid UTF-8.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise MemlaneError("json_invalid", f"The body is not valid JSON ({where}).") from None
    except RecursionError:
        raise MemlaneError("json_too_deep") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MemlaneError("json_duplicate_key")
    return found


def _int(text: str) -> int:
    if len(text) > 20 or (value := int(text)) not in INT64:
        raise MemlaneError("json_number_out_of_range")
    return value


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise MemlaneError("json_number_out_of_range")
    return value


def _constant(_: str) -> Any:
    raise MemlaneError("json_number_out_of_range")  # NaN, Infinity, -Infinity


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_int, parse_float=_float, parse_constant=_constant, strict=True
)


def _check(root: dict[str, Any]) -> None:
    """Depth, number of parts, and text that could not be stored; without recursion."""
    level: list[tuple[str, Any]] = [("", root)]
    nodes = 1
    for _ in range(MAX_DEPTH):
        below: list[tuple[str, Any]] = []
        for pointer, container in level:
            nodes += len(container)
            if nodes > MAX_NODES:
                raise MemlaneError("json_too_deep")
            for where, value in _children(pointer, container):
                if isinstance(value, str):
                    check_text(value, where)
                elif isinstance(value, dict | list):
                    below.append((where, value))
        if not below:
            return
        level = below
    raise MemlaneError("json_too_deep")


def _children(pointer: str, container: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(container, list):
        for index, value in enumerate(container):
            yield f"{pointer}[{index}]", value
        return
    for key, value in container.items():
        if len(key) > MAX_KEY:
            raise MemlaneError("json_invalid", "A key of the body is too long.")
        check_text(key, pointer)
        yield (f"{pointer}.{key}" if pointer else key), value


def check_text(text: str, pointer: str) -> None:
    """PostgreSQL text cannot hold NUL, UTF-8 cannot hold a lone surrogate."""
    if "\x00" in text or not _encodable(text):
        raise MemlaneError("nul_character", pointer=pointer or None)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
