"""The hand-written cases of `bench extract`, and how an extraction is judged by one.

A case is a short conversation with the facts that a good extraction keeps of it. A fact is told by words that one
stored text must hold, all of them, alternatives parted by "|"; `wrong` tells a text that must not be stored: it holds
the words and none of `without` (a negation that was lost, a friend's taste taken for the user's).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from core.domain.memory import Candidate, ShownMemory, Turn
from core.domain.scope import Scope
from core.ports.extraction import ExtractionRequest
from core.text.language import language
from core.text.normalise import content_hash

FILE = Path(__file__).parent / "data" / "extraction.json"
_SCOPE = Scope(user_id="user", agent_id="agent")


@dataclass(frozen=True)
class Fact:
    """`side`, `when` and `supersedes` (a number as the model sees it) are asked for only where they are set."""

    words: tuple[str, ...]
    without: str = ""
    side: str | None = None
    when: date | None = None
    supersedes: int | None = None

    def told_by(self, text: str) -> bool:
        """All words, none of `without`."""
        folded = _folded(text)
        denied = bool(self.without) and _any(self.without, folded)
        return not denied and all(_any(word, folded) for word in self.words)

    def kept_by(self, stored: Candidate) -> bool:
        if not self.told_by(stored.text):
            return False
        numbers = {entry.index + 1 for entry in stored.supersedes}
        return (
            self.side in (None, stored.attributed_to)
            and self.when in (None, stored.event_date)
            and (self.supersedes is None or self.supersedes in numbers)
        )


@dataclass(frozen=True)
class Case:
    name: str
    language: str
    kind: str
    request: ExtractionRequest
    facts: tuple[Fact, ...] = ()
    wrong: tuple[Fact, ...] = ()


@dataclass
class Judged:
    """Counts over one case. `stored` are the texts that would be kept. Of these, `wrong` turn what was said, `beside`
    tell no expected fact, and `again` tell only what a text before them told."""

    found: int = 0
    wrong: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    in_language: int = 0


def judge(case: Case, candidates: Sequence[Candidate]) -> Judged:
    """What was kept, against what should have been. A text that is stored already, letter by letter, is not stored
    again and counts for nothing."""
    known = {content_hash(memory.text) for memory in case.request.shown}
    new = [one for one in candidates if content_hash(one.text) not in known]
    judged = Judged(stored=[one.text for one in new])
    judged.found = sum(any(fact.kept_by(one) for one in new) for fact in case.facts)
    told: set[Fact] = set()
    for one in new:
        tells = {fact for fact in case.facts if fact.told_by(one.text)}
        if any(fact.told_by(one.text) for fact in case.wrong):
            judged.wrong.append(one.text)
        elif not tells:
            judged.beside.append(one.text)
        elif tells <= told:
            judged.again.append(one.text)
        told |= tells
        judged.in_language += language(one.text) == case.language
    return judged


def read_cases(path: Path = FILE, only: str = "") -> list[Case]:
    """The cases whose name begins with `only`. Raises ValueError, KeyError for a file that is none."""
    data = json.loads(path.read_text(encoding="utf-8"))
    said = datetime.fromisoformat(data["said"])
    return [_case(raw, said) for raw in data["cases"] if raw["name"].startswith(only)]


def _case(raw: dict[str, Any], said: datetime) -> Case:
    turns = [Turn(index, role, text, said) for index, (role, text) in enumerate(raw["turns"])]
    earlier = [Turn(index, role, text, said) for index, (role, text) in enumerate(raw.get("earlier", ()))]
    shown = [
        ShownMemory(UUID(int=number), text, _SCOPE.key, said) for number, text in enumerate(raw.get("shown", ()))
    ]
    return Case(
        raw["name"],
        raw["language"],
        raw["kind"],
        ExtractionRequest(_SCOPE, turns, earlier, shown, said),
        tuple(map(_fact, raw["facts"])),
        tuple(map(_fact, raw.get("wrong", ()))),
    )


def _fact(raw: dict[str, Any]) -> Fact:
    when = raw.get("date")
    return Fact(
        tuple(raw["words"]),
        raw.get("without", ""),
        raw.get("side"),
        date.fromisoformat(when) if when else None,
        raw.get("supersedes"),
    )


def _any(alternatives: str, folded: str) -> bool:
    return any(_folded(word) in folded for word in alternatives.split("|"))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
