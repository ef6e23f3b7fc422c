"""Files that people bring to the demo: what is understood, and what is said about the rest."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deploy.local.conversation import read_conversation
from deploy.local.failure import StackFailure


def _file(folder: Path, text: str) -> Path:
    path = folder / "conversation"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_sample_has_turns_in_two_languages_and_questions() -> None:
    sample = read_conversation(None)
    said = " ".join(message["content"] for session in sample.sessions for message in session.messages)
    assert any("\u4e00" <= character <= "\u9fff" for character in said)
    assert "harbour" in said
    assert len(sample.questions) >= 5
    assert all(session.said_at for session in sample.sessions)


def test_a_list_of_messages_is_cut_into_sessions(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"fact {number}"} for number in range(45)]
    found = read_conversation(_file(tmp_path, json.dumps(messages)))
    assert [len(session.messages) for session in found.sessions] == [20, 20, 5]


def test_sessions_keep_their_dates(tmp_path: Path) -> None:
    data = {"user_id": "u", "sessions": [{"date": "2026-01-02", "messages": [{"role": "user", "content": "x"}]}]}
    found = read_conversation(_file(tmp_path, json.dumps(data)))
    assert found.user_id == "u"
    assert found.sessions[0].said_at == datetime(2026, 1, 2, tzinfo=UTC)


def test_text_lines_with_speakers(tmp_path: Path) -> None:
    found = read_conversation(_file(tmp_path, "Mia: I moved.\nto Turin\nassistant: Good.\n小林：你好\n"))
    assert found.sessions[0].messages == [
        {"role": "user", "content": "I moved.\nto Turin"},
        {"role": "assistant", "content": "Good."},
        {"role": "user", "content": "你好"},
    ]


@pytest.mark.parametrize("text", ["", "no speaker here", "[]", '{"messages": 3}', '[{"role": "user"}]', "{broken"])
def test_what_is_not_a_conversation_is_told_with_the_formats(tmp_path: Path, text: str) -> None:
    with pytest.raises(StackFailure, match="A file may be JSON"):
        read_conversation(_file(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StackFailure, match="cannot be read"):
        read_conversation(tmp_path / "absent")
