"""Reads a file of LoCoMo conversations (Maharana et al., ACL 2024) that was reduced to what retrieval needs.

The data is not part of this project. Per conversation: `id`, `speakers`, `sessions[] {session, date_time,
turns[] {dia_id, speaker, text, image_caption?}}`, `questions[] {question, evidence[dia_id], category}`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deploy.bench.client import BenchError

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ANSWERABLE = (1, 2, 3, 4)
_DIA_ID = re.compile(r"D\d+:\d+")
_WORDS = re.compile(r"[぀-ヿ㐀-鿿가-힯]|\w+|[^\w\s]")


@dataclass(frozen=True)
class Turn:
    dia_id: str
    speaker: str
    text: str  # with its image's caption

    @property
    def line(self) -> str:
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True)
class Session:
    name: str
    said_at: datetime
    turns: list[Turn]


@dataclass(frozen=True)
class Question:
    """`evidence` holds the turns that answer it, those that exist in the conversation."""

    conversation: str
    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    id: str
    speakers: list[str]
    sessions: list[Session]
    questions: list[Question]

    @property
    def turns(self) -> list[Turn]:
        return [turn for session in self.sessions for turn in session.turns]


def read_conversations(path: Path, limit: int | None = None) -> list[Conversation]:
    """The first `limit` conversations of the file. Raises BenchError when it is missing or has another shape."""
    if not path.is_file():
        raise BenchError(f"{path} is not there. The LoCoMo data is not part of Memlane; give the path of your copy.")
    try:
        items = json.loads(path.read_text(encoding="utf-8"))
        return [_conversation(item) for item in items[:limit]]
    except (KeyError, TypeError, ValueError) as error:
        raise BenchError(f"{path} is not a file of LoCoMo conversations: {error!r}") from error


def _conversation(item: dict[str, Any]) -> Conversation:
    sessions = [_session(session) for session in item["sessions"]]
    known = {turn.dia_id for session in sessions for turn in session.turns}
    questions = [
        Question(
            item["id"],
            question["question"],
            int(question["category"]),
            frozenset(parse_evidence(question["evidence"])) & known,
        )
        for question in item["questions"]
    ]
    return Conversation(item["id"], item["speakers"], sessions, questions)


def _session(item: dict[str, Any]) -> Session:
    turns = []
    for turn in item["turns"]:
        caption = turn.get("image_caption")
        text = turn["text"] + (f" [image: {caption}]" if caption else "")
        turns.append(Turn(turn["dia_id"], turn["speaker"], text))
    return Session(str(item["session"]), parse_date(item["date_time"]), turns)


def parse_evidence(strings: list[str]) -> set[str]:
    """Ids of turns; one string may hold several ("D8:6; D9:17"), and what is no id is ignored."""
    return {dia_id for string in strings for dia_id in _DIA_ID.findall(string)}


def parse_date(text: str) -> datetime:
    """ "7:48 pm on 21 May, 2023", taken as UTC."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def count_tokens(text: str) -> int:
    """Words, marks and CJK characters, one each: one measure for raw turns and memories, whatever the model."""
    return len(_WORDS.findall(text))
