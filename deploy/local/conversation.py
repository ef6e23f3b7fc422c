"""Conversations for the demo: the sample of the package, or a file of the person's own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deploy.local.failure import StackFailure

SAMPLE = Path(__file__).with_name("sample_conversation.json")
_FORMATS = (
    'A file may be JSON (a list of {"role", "content"}; or {"messages": …}; or sessions and questions like '
    "deploy/local/sample_conversation.json), or text with one `user: …` or `assistant: …` per line."
)
_LINE = re.compile(r"^\s*([^:：]{1,40})[:：]\s*(.+)$")
_ASSISTANTS = {"assistant", "ai", "bot", "agent", "system"}
_SESSION_LENGTH = 20  # messages of one add, where the file does not say where sessions begin
GENERAL_QUESTIONS = ["What matters to this person?", "What is planned?", "What did they like or dislike?"]


@dataclass(frozen=True)
class Session:
    """One add: its messages as the API takes them, and when they were said."""

    messages: list[dict[str, str]]
    said_at: datetime | None = None


@dataclass(frozen=True)
class Conversation:
    user_id: str
    sessions: list[Session]
    questions: list[str] = field(default_factory=lambda: list(GENERAL_QUESTIONS))

    @property
    def messages(self) -> int:
        return sum(len(session.messages) for session in self.sessions)


def read_conversation(path: Path | None) -> Conversation:
    """Raises StackFailure that says which formats are taken."""
    try:
        text = (path or SAMPLE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as unreadable:
        raise StackFailure(f"{path} cannot be read: {unreadable}.", _FORMATS) from unreadable
    try:
        found = _from_json(json.loads(text)) if text.lstrip()[:1] in ("[", "{") else _from_lines(text)
    except (ValueError, KeyError, TypeError, AttributeError) as invalid:
        raise StackFailure(f"{path} is not a conversation: {invalid}.", _FORMATS) from invalid
    if not found.messages:
        raise StackFailure(f"{path} holds no messages.", _FORMATS)
    return found


def _from_json(data: Any) -> Conversation:
    if isinstance(data, list):
        return Conversation("demo", _cut([_message(each) for each in data]))
    questions = [str(question) for question in data.get("questions") or GENERAL_QUESTIONS]
    if "sessions" not in data:
        return Conversation(
            str(data.get("user_id", "demo")), _cut([_message(each) for each in data["messages"]]), questions
        )
    sessions = [
        Session([_message(each) for each in session["messages"]], _date(session.get("date")))
        for session in data["sessions"]
    ]
    return Conversation(str(data.get("user_id", "demo")), sessions, questions)


def _from_lines(text: str) -> Conversation:
    """`speaker: words`; a line without a speaker goes on with the one before."""
    messages: list[dict[str, str]] = []
    for line in filter(str.strip, text.splitlines()):
        found = _LINE.match(line)
        if found:
            speaker = found[1].strip()
            role = "assistant" if speaker.lower() in _ASSISTANTS else "user"
            messages.append({"role": role, "content": found[2].strip()})
        elif messages:
            messages[-1]["content"] += "\n" + line.strip()
        else:
            raise ValueError("the first line names no speaker")
    return Conversation("demo", _cut(messages))


def _message(each: dict[str, Any]) -> dict[str, str]:
    message = {"role": str(each.get("role", "user")), "content": each["content"]}
    if each.get("name"):
        message["name"] = str(each["name"])
    return message


def _cut(messages: list[dict[str, str]]) -> list[Session]:
    return [Session(messages[start : start + _SESSION_LENGTH]) for start in range(0, len(messages), _SESSION_LENGTH)]


def _date(text: str | None) -> datetime | None:
    if text is None:
        return None
    when = datetime.fromisoformat(text)
    return when if when.tzinfo else when.replace(tzinfo=UTC)
