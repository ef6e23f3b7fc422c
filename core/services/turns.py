"""From the messages of a request to turns: text joined, roles named, times resolved, unread parts told."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote_to_bytes

from core.domain.memory import Turn
from core.domain.outcomes import Outcome
from core.text.budget import clean

_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
    "function": "tool",
}
_TEXT_PARTS = {"text", "input_text", "output_text", "refusal"}
_DOCUMENT_PARTS = {"mdx_url", "txt_url"}
_IMAGE_PARTS = {"image_url", "image", "input_image"}
_PDF_PARTS = {"pdf_url"}
_REMOTE = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_DATA_URI = re.compile(r"^data:[^,]*,", re.IGNORECASE)


def turns(
    messages: Sequence[Mapping[str, Any]], timestamp: object, now: datetime
) -> tuple[list[Turn], list[Outcome]]:
    """Turns of the messages that hold text, and an outcome `filtered` for every part that was not read.

    A message's own `timestamp` wins over the request's, which wins over `now`; each may be epoch seconds or
    ISO 8601. An unknown role counts as a tool's, which is never a source. `Turn.index` is the message's place
    in the request, also where messages without text (an assistant's bare tool calls) are left out.
    """
    said_at = moment(timestamp) or now
    found: list[Turn] = []
    outcomes: list[Outcome] = []
    for index, message in enumerate(messages):
        text, missed = _read(message.get("content"))
        outcomes.extend(missed)
        if not text.strip():
            continue
        name = message.get("name")
        found.append(
            Turn(
                index=index,
                role=_ROLES.get(str(message.get("role", "user")).lower(), "tool"),
                text=text,
                said_at=moment(message.get("timestamp") or message.get("created_at")) or said_at,
                name=clean(name).strip() or None if isinstance(name, str) else None,
            )
        )
    return found, outcomes


def moment(value: object) -> datetime | None:
    """Epoch seconds (milliseconds where they cannot be seconds) or ISO 8601 as an aware UTC time; else None."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, str):
        text = value.strip()
        if not re.fullmatch(r"-?\d{9,13}(\.\d+)?", text):
            return _iso(text)
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value / 1000 if abs(value) >= 1e11 else value  # 1e11 seconds is the year 5138
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _iso(text: str) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(text)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _read(content: Any) -> tuple[str, list[Outcome]]:
    """The text of a content: a string, one part object, a list of parts, or nothing."""
    if isinstance(content, str):
        return clean(content), []
    parts = content if isinstance(content, list) else [content] if content is not None else []
    texts: list[str] = []
    outcomes: list[Outcome] = []
    for part in parts:
        read = _part(part)
        if isinstance(read, Outcome):
            outcomes.append(read)
        elif read.strip():
            texts.append(clean(read))
    return "\n".join(texts), outcomes


def _part(part: Any) -> str | Outcome:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return _filtered("part_unknown", type(part).__name__)
    kind = str(part.get("type", "text"))
    if kind in _TEXT_PARTS:
        text = part.get("text", part.get(kind))
        return text if isinstance(text, str) else _filtered("part_unreadable", f"{kind} without text")
    if kind in _DOCUMENT_PARTS | _IMAGE_PARTS | _PDF_PARTS:
        return _linked(kind, _address(part, kind))
    return _filtered("part_unknown", kind[:100])


def _linked(kind: str, address: str) -> str | Outcome:
    """A part given by address. Documents in the address itself (data URI, base64) are decoded here."""
    if not address:
        return _filtered("part_unreadable", f"{kind} without an address")
    if _REMOTE.match(address):
        return _filtered("fetch_disabled", f"{kind} {address[:200]}")
    if kind in _IMAGE_PARTS:
        return _filtered("image_not_read", kind)
    if kind in _PDF_PARTS:
        return _filtered("pdf_not_read", kind)
    decoded = _decoded(address)
    return decoded if decoded is not None else _filtered("part_unreadable", f"{kind} is neither base64 nor text")


def _decoded(address: str) -> str | None:
    """UTF-8 text of a data URI or of bare base64."""
    head = _DATA_URI.match(address)
    body = address[head.end() :] if head else address
    try:
        if head and ";base64" not in head.group().lower():
            return unquote_to_bytes(body).decode()
        return base64.b64decode("".join(body.split()), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def _address(part: Mapping[str, Any], kind: str) -> str:
    value = part.get(kind, part.get("url", ""))
    if isinstance(value, Mapping):
        value = value.get("url", "")
    return value.strip() if isinstance(value, str) else ""


def _filtered(rule: str, detail: str) -> Outcome:
    return Outcome("filtered", rule=rule, detail=clean(detail))
