"""Keeps secrets and memory text out of logs, whatever a caller or a library hands to them.

Three nets: keys whose values are never shown, patterns of secrets inside any string, and exceptions that are
told by type and place, since their messages often quote the data they failed on.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from core.domain.errors import MemlaneError

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]

_SECRET_KEYS = re.compile(r"(?i)api_?key|authorization|cookie|credential|dsn|passw|secret|signature|token$")
_TEXT_KEYS = re.compile(
    r"(?i)(custom_)?instructions|answers?|arguments|body|candidates?|contents?|data|documents?|facts?|filters|input"
    r"|memor(y|ies)|messages?|message_text|metadata|output|payload|prompt|query|questions?|quote|reply|results?|texts?"
)
_PATTERNS = (
    (re.compile(r"(?i)\b(token|bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}"), r"\1 [redacted]"),
    (re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^\s/@:]*:[^\s/@]*@"), r"\1[redacted]@"),
    (re.compile(r"\b(sk|pk|rk|m0|ml|mlk|whsec)[-_][A-Za-z0-9+/=_-]{8,}"), r"\1-[redacted]"),
    (re.compile(r"(?i)\b(api[-_]?key|password|secret)(\s*[=:]\s*)[^\s,;&]+"), r"\1\2[redacted]"),
)
_HIDDEN = "[redacted]"
_LONGEST_STRING = 500
_LONGEST_LIST = 50
_DEEPEST = 4
_FRAMES = 12
# Messages of these say what is wrong with the machine or the program, not with the data.
_SPEAKING_ERRORS = (OSError, ImportError, AttributeError, MemoryError, RecursionError)


def redact_text(text: str) -> str:
    """`text` with everything that looks like a secret masked, cut to 500 characters."""
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text if len(text) <= _LONGEST_STRING else text[:_LONGEST_STRING] + "…"


def redact_fields(fields: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """A copy that is safe to log. Numbers and booleans under a text key stay: a count is not a text."""
    return {str(key): _redact_value(str(key), value, depth) for key, value in fields.items()}


def _redact_value(key: str, value: Any, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if _SECRET_KEYS.search(key):
        return _HIDDEN
    if _TEXT_KEYS.fullmatch(key):
        return f"[{len(value)} characters]" if isinstance(value, str) else _HIDDEN
    if isinstance(value, str):
        return redact_text(value)
    return _redact_container(value, depth)


def _redact_container(value: Any, depth: int) -> Any:
    if isinstance(value, BaseException):
        return describe_exception((type(value), value, value.__traceback__))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"[{len(value)} bytes]"
    if depth >= _DEEPEST:
        return "[…]"
    if isinstance(value, Mapping):
        return redact_fields(value, depth + 1)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_redact_value("", item, depth + 1) for item in list(value)[:_LONGEST_LIST]]
    return redact_text(str(value))


def describe_exception(info: ExcInfo) -> dict[str, Any]:
    """Type, safe message and the innermost frames of an exception and of what caused it."""
    error = info[1]
    frames = traceback.extract_tb(info[2])[-_FRAMES:]
    described: dict[str, Any] = {
        "type": f"{type(error).__module__}.{type(error).__qualname__}",
        "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
    message = _safe_message(error)
    if message:
        described["message"] = message
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        described["cause"] = f"{type(cause).__module__}.{type(cause).__qualname__}"
    return described


def _safe_message(error: BaseException) -> str | None:
    if isinstance(error, MemlaneError):
        return error.code
    if isinstance(error, _SPEAKING_ERRORS):
        return redact_text(str(error))
    sqlstate = getattr(error, "sqlstate", None) or getattr(getattr(error, "orig", None), "sqlstate", None)
    return f"SQLSTATE {sqlstate}" if sqlstate else None
