"""Conversations are read as they are, and recall is counted as the protocol says."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deploy.bench.client import BenchError, stages_of
from deploy.bench.locomo_data import Question, count_tokens, parse_date, parse_evidence, read_conversations
from deploy.bench.recall import Found, judge, recall_table

CONVERSATION: dict[str, Any] = {
    "id": "talk-1",
    "speakers": ["Ana", "Ben"],
    "sessions": [
        {
            "session": 1,
            "date_time": "12:05 am on 3 July, 2023",
            "turns": [
                {"dia_id": "D1:1", "speaker": "Ana", "text": "My boat is blue."},
                {"dia_id": "D1:2", "speaker": "Ben", "text": "Look!", "image_caption": "a red kite"},
            ],
        }
    ],
    "questions": [{"question": "Which colour?", "answer": "blue", "evidence": ["D1:1; D9:9", "D"], "category": 4}],
}


def question(*evidence: str, category: int = 4) -> Question:
    return Question("talk-1", "?", category, frozenset(evidence))


def found(*turns: str, text: str = "a b") -> Found:
    return Found(text, frozenset(turns))


def test_a_file_is_read_with_captions_dates_and_the_evidence_that_exists(tmp_path: Path) -> None:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([CONVERSATION]), encoding="utf-8")
    (one,) = read_conversations(path)
    assert [turn.line for turn in one.turns] == ["Ana: My boat is blue.", "Ben: Look! [image: a red kite]"]
    assert one.sessions[0].said_at == datetime(2023, 7, 3, 0, 5, tzinfo=UTC)
    assert one.questions[0].evidence == {"D1:1"}


def test_a_missing_or_strange_file_is_told_clearly(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="not part of Memlane"):
        read_conversations(tmp_path / "none.json")
    strange = tmp_path / "strange.json"
    strange.write_text('[{"id": 1}]', encoding="utf-8")
    with pytest.raises(BenchError, match="not a file of LoCoMo"):
        read_conversations(strange)


def test_one_evidence_string_may_hold_several_ids() -> None:
    assert parse_evidence(["D8:6; D9:17", "D", "D1:20"]) == {"D8:6", "D9:17", "D1:20"}


@pytest.mark.parametrize(("text", "hour"), [("7:48 pm on 21 May, 2023", 19), ("12:00 pm on 1 May, 2023", 12)])
def test_dates_are_read_as_utc(text: str, hour: int) -> None:
    assert parse_date(text).hour == hour


def test_tokens_are_words_marks_and_cjk_characters() -> None:
    assert count_tokens("I can't go, 林澜!") == 9


def test_recall_is_the_share_of_evidence_among_the_first_k() -> None:
    results = [found("D1:9"), found("D1:1"), *[found() for _ in range(8)], found("D1:2")]
    judged = judge(question("D1:1", "D1:2"), results)
    assert (judged.recall[5], judged.recall[10], judged.recall[20]) == (0.5, 0.5, 1.0)
    assert judged.all_at_10 == 0.0
    assert judged.reciprocal_rank == 0.5
    assert judged.tokens == {10: 20, 20: 22}


def test_a_memory_of_several_turns_covers_each_of_them() -> None:
    judged = judge(question("D1:1", "D1:2"), [found("D1:1", "D1:2", "D1:3")])
    assert judged.all_at_10 == 1.0


def test_nothing_found_is_nought_not_an_error() -> None:
    judged = judge(question("D1:1"), [])
    assert (judged.recall[10], judged.reciprocal_rank) == (0.0, 0.0)


def test_the_adversarial_category_stays_out_of_the_total() -> None:
    judged = [judge(question("D1:1"), [found("D1:1")]), judge(question("D1:1", category=5), [])]
    rows = {row[0]: row for row in recall_table("t", judged).rows}
    assert rows["1–4 together"][1:4] == [1, 1.0, 1.0]
    assert rows["adversarial (5)"][1:4] == [1, 0.0, 0.0]
    assert rows["temporal"][1] == 0


def test_stage_times_come_from_the_server_timing_header() -> None:
    assert stages_of("embed;dur=8.25, recall;desc=x;dur=1, rank; dur=0.5") == {
        "embed": 8.25,
        "recall": 1.0,
        "rank": 0.5,
    }
    assert stages_of("") == {}
