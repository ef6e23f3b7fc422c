"""A long conversation cut into windows that fit one model call each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain.memory import Turn
from core.text.budget import estimate_tokens, split_to_fit

_OVERLAP = 2  # messages of the window before, shown as context
_PER_TURN = 24  # tokens of one line's keys, role, time


@dataclass(frozen=True)
class Window:
    """`turns` are this window's own; `before` are the last ones of the window before it, for context."""

    turns: tuple[Turn, ...]
    before: tuple[Turn, ...] = ()


def windows(turns: Sequence[Turn], tokens: int) -> list[Window]:
    """Windows of at most `tokens` (estimated), at message borders; each turn belongs to exactly one.

    A message that is too long by itself is cut into pieces, which keep its index. The overlap is half of a
    window at most, so that a few huge messages cannot crowd out the next.
    """
    pieces = [piece for turn in turns for piece in _pieces(turn, tokens)]
    found: list[Window] = []
    current: list[Turn] = []
    before: tuple[Turn, ...] = ()
    room = tokens
    for piece in pieces:
        cost = _cost(piece)
        if current and cost > room:
            found.append(Window(tuple(current), before))
            before = _overlap(current, tokens // 2)
            room = tokens - sum(map(_cost, before))
            if cost > room:
                before, room = (), tokens
            current = []
        current.append(piece)
        room -= cost
    if current:
        found.append(Window(tuple(current), before))
    return found


def _pieces(turn: Turn, tokens: int) -> list[Turn]:
    if _cost(turn) <= tokens:
        return [turn]
    room = max(tokens - _PER_TURN, 1)
    return [
        replace(turn, text=piece)
        for piece in split_to_fit(turn.text, lambda text: estimate_tokens(text) <= room)
        if piece.strip()
    ]


def _overlap(turns: Sequence[Turn], tokens: int) -> tuple[Turn, ...]:
    kept: list[Turn] = []
    for turn in reversed(turns[-_OVERLAP:]):
        tokens -= _cost(turn)
        if tokens < 0:
            break
        kept.insert(0, turn)
    return tuple(kept)


def _cost(turn: Turn) -> int:
    return estimate_tokens(turn.text) + _PER_TURN
