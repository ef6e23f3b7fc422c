"""Reading what models really answer: from any text to the items of the extraction schema.

In order: the whole answer as JSON; thoughts taken off; every JSON value in the text, in fences or in prose;
what was cut off, item by item, complete items only; and json-repair for what is whole but badly written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import json_repair

_LIST_KEYS = ("memories", "facts", "memory", "results", "items")
_TEXT_KEYS = ("text", "memory", "fact", "content")
_MOST_ITEMS = 256
_MOST_BROKEN = 200  # brackets that begin no JSON; an answer with more is not worth the time to look further
_THOUGHT_TAG = re.compile(
    r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection)\b[^<>]{0,200}>", re.IGNORECASE
)
_BRACKET = re.compile(r"[{\[]")
_ARRAY = re.compile(rf'"(?:{"|".join(_LIST_KEYS)})"\s*:\s*\[')
_FORGED = re.compile(r'\{\s*["\']?(?:memories|facts)["\']?\s*:\s*\[', re.IGNORECASE)
_STRICT = json.JSONDecoder(strict=False)  # raw line breaks inside strings are common and harmless


class Unreadable(Exception):
    """No items can be read; the message says why, in words that help a model to do better."""


@dataclass
class Answer:
    """`items` have a string under "text"; `bad` counts items that were none; `cut` = the end was missing."""

    items: list[dict[str, Any]] = field(default_factory=list)
    bad: int = 0
    cut: bool = False


def parse(text: str) -> Answer:
    """The items of an answer. Raises Unreadable; an empty list is a valid answer only when the model wrote one."""
    stripped = without_thoughts(text)
    if not stripped:
        raise Unreadable("the answer is empty" if not text.strip() else "the answer holds thoughts but no JSON")
    answer = _first(text, stripped)
    if answer is None:
        raise Unreadable('there is no JSON object with the key "memories" in the answer')
    if answer.bad and not answer.items:
        raise Unreadable('no item of "memories" has a string under "text"')
    return answer


def listed_under(key: str, text: str) -> list[Any] | None:
    """The list under `key` of the first JSON object that has one, in an answer of another schema; None without."""
    stripped = without_thoughts(text)
    start, end = stripped.find("{"), stripped.rfind("}")
    candidates = list(_values(stripped))
    if start >= 0 and end > start:
        candidates.append(_repaired_value(stripped[start : end + 1]))
    for value in candidates:
        if isinstance(value, Mapping) and isinstance(value.get(key), list):
            found: list[Any] = value[key]
            return found
    return None


def without_answers(text: str) -> str:
    """A message without the JSON in it that has the form of an answer: whoever spells one out wants it to be taken
    for the model's own. Text around it stays."""
    kept: list[str] = []
    at = 0
    for match in _FORGED.finditer(text):
        if match.start() < at:
            continue  # inside the one before
        kept.append(text[at : match.start()])
        at = _balanced_end(text, match.start()) or len(text)
    return "".join([*kept, text[at:]])


def _first(text: str, stripped: str) -> Answer | None:
    """The first way of reading that finds items, or an empty list that the model wrote."""
    whole = _whole(text)
    if whole is not None:
        return whole
    for read in (_whole, _keyed, _cut, _repaired, _bare):
        answer = read(stripped)
        if answer is not None:
            return answer
    return None


def without_thoughts(text: str) -> str:
    """The answer without <think>…</think>; an unclosed thought reaches to the end, an unopened one from the start."""
    kept: list[str] = []
    at, inside = 0, False
    for tag in _THOUGHT_TAG.finditer(text):
        closing = bool(tag[1])
        if closing and not inside:
            kept = []  # what stood before an unopened thought's end is the thought
        elif not closing and not inside:
            kept.append(text[at : tag.start()])
        inside = not closing
        at = tag.end()
    return "".join(kept if inside else [*kept, text[at:]]).strip()


def _whole(text: str) -> Answer | None:
    """The text is one JSON value, as it should be. Tags inside its strings are then no thoughts."""
    try:
        return _items_of(_STRICT.decode(text.strip()))
    except (ValueError, RecursionError):
        return None


def _keyed(text: str) -> Answer | None:
    """All objects in the text that hold a list of items: after prose, in fences, or several in a row."""
    found = [_items_of(value) for value in _values(text) if _has_list(value)]
    answers = [answer for answer in found if answer is not None]
    if not answers:
        return None
    return Answer([item for answer in answers for item in answer.items], sum(answer.bad for answer in answers))


def _bare(text: str) -> Answer | None:
    """No such object: a list of items, or single items, without the key around them."""
    values = list(_values(text))
    answers = [answer for value in values if isinstance(value, Mapping) and (answer := _items_of(value)) is not None]
    if answers:
        return Answer([item for answer in answers for item in answer.items])
    # a list of strings is taken only where it is all there is: prose may quote one in passing
    return _items_of(values[0]) if len(values) == 1 else None


def _has_list(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(value.get(key), list) for key in _LIST_KEYS)


def _values(text: str) -> Iterator[Any]:
    """Every JSON value that starts with a bracket; those inside another one are parts of it, not values."""
    at = broken = 0
    while broken < _MOST_BROKEN and (start := _next_bracket(text, at)) >= 0:
        try:
            value, at = _STRICT.raw_decode(text, start)
        except ValueError:
            at, broken = start + 1, broken + 1
        except RecursionError:
            return
        else:
            yield value


def _next_bracket(text: str, at: int) -> int:
    match = _BRACKET.search(text, at)
    return match.start() if match else -1


def _cut(text: str) -> Answer | None:
    """The end is missing: the complete items of the list. The one that was cut is never completed by guessing."""
    match = _ARRAY.search(text)
    start = match.end() - 1 if match else text.find("[")
    if start < 0:
        return None
    end = _balanced_end(text, start)
    if end is not None:  # only what stands around the list is broken
        return _items_of(_repaired_value(text[start:end])) if match else None
    raw: list[Any] = []
    at = start + 1
    while (item := _element(text, at)) is not None:
        value, at = item
        raw.append(value)
    answer = _sorted_out(raw)
    answer.cut = True
    return answer if answer.items else None


def _element(text: str, at: int) -> tuple[Any, int] | None:
    """The next complete object or string of an array and where it ends; None at the end or at the cut."""
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    if at >= len(text) or text[at] not in '{"':
        return None
    if text[at] == '"':
        try:
            return _STRICT.raw_decode(text, at)
        except ValueError:
            return None
    end = _balanced_end(text, at)
    return None if end is None else (_repaired_value(text[at:end]), end)


def _repaired(text: str) -> Answer | None:
    """Whole but badly written: trailing commas, single quotes, comments, missing quotes."""
    start = _next_bracket(text, 0)
    for _ in range(_MOST_BROKEN):
        end = _balanced_end(text, start) if start >= 0 else None
        if end is None:
            return None
        value = _repaired_value(text[start:end])
        if _has_list(value):
            return _items_of(value)
        start = _next_bracket(text, end)
    return None


def _repaired_value(text: str) -> Any:
    try:
        return json_repair.loads(text)
    except RecursionError:
        return None


def _balanced_end(text: str, start: int) -> int | None:
    """Just past the bracket that closes the one at `start`, strings skipped; None when it is never closed."""
    depth, quoted, escaped = 0, False, False
    for at in range(start, len(text)):
        char = text[at]
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
    return None


def _items_of(value: Any) -> Answer | None:
    """The items of a decoded value: {"memories": […]}, {"facts": […]}, a bare list, or one bare item."""
    if isinstance(value, list):
        # a list of nothing but numbers or the like was not meant as the answer ("[1]" in prose)
        answer = _sorted_out(value)
        return answer if answer.items or not value else None
    if not isinstance(value, Mapping):
        return None
    for key in _LIST_KEYS:
        if key in value:
            listed = value[key]
            if listed is None:
                return Answer()
            return _sorted_out(listed if isinstance(listed, list) else [listed])
    item = _item(value)
    return Answer([item]) if item else None


def _sorted_out(raw: list[Any]) -> Answer:
    items = [item for entry in raw if (item := _item(entry)) is not None]
    return Answer(items[:_MOST_ITEMS], bad=len(raw) - len(items))


def _item(raw: Any) -> dict[str, Any] | None:
    """The item with its text under "text"; a plain string is an item of nothing but text."""
    if isinstance(raw, str):
        return {"text": raw} if raw.strip() else None
    if not isinstance(raw, Mapping):
        return None
    text = next((raw[key] for key in _TEXT_KEYS if isinstance(raw.get(key), str)), "")
    return {**raw, "text": text} if text.strip() else None
