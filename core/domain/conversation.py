"""Memories as parts of a conversation: who spoke, and what was said around it."""

from __future__ import annotations

import re
from datetime import timedelta

from core.domain.memory import Memory

CONTEXT_REACH = 2  # positions before and after
CONTEXT_WEIGHTS = (2.0, 0.7, 0.5)  # of a memory's own words, and of those one and two positions away
CONTEXT_GAP = timedelta(minutes=30)

_SPEAKER = re.compile(r"\s*([^\W\d_][^\n:：,;.!?。，？！]{0,39}?)\s*[:：]\s*\S")
_MAX_SPEAKER_WORDS = 3


def speaker_of(text: str) -> str | None:
    """The name in front of a verbatim turn ("Ana: I ski." → "Ana"), or None."""
    match = _SPEAKER.match(text)
    if match is None:
        return None
    name = match.group(1)
    words = name.split()
    if len(words) > _MAX_SPEAKER_WORDS or not all(word[0].isupper() or not word[0].isascii() for word in words):
        return None
    return name


def said_together(one: Memory, other: Memory) -> bool:
    """Same session: within 30 minutes of message time, or the same run. Scope and lane are the caller's to match."""
    if one.scope.run_id is not None and one.scope.run_id == other.scope.run_id:
        return True
    first, second = one.said_at or one.created_at, other.said_at or other.created_at
    return abs(first - second) <= CONTEXT_GAP
