"""From messages to turns: every shape that clients send, and honest outcomes for what was not read."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest

from core.services.turns import moment, turns

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
NOTES = "# Notes\nThe gate code is 4417"
DOCUMENT = base64.b64encode(NOTES.encode()).decode()


def read(*messages: dict[str, Any], timestamp: object = None) -> list[tuple[int, str, str]]:
    return [(turn.index, turn.role, turn.text) for turn in turns(messages, timestamp, NOW)[0]]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("I love hiking", "I love hiking"),
        ([{"type": "text", "text": "I love hiking"}], "I love hiking"),
        ({"type": "text", "text": "I love hiking"}, "I love hiking"),
        ([{"type": "text", "text": "I love"}, {"type": "text", "text": "hiking"}], "I love\nhiking"),
        (["I love hiking"], "I love hiking"),
        ([{"type": "input_text", "text": "I love hiking"}], "I love hiking"),
        ({"type": "txt_url", "txt_url": {"url": DOCUMENT}}, NOTES),
        ({"type": "mdx_url", "mdx_url": {"url": "data:text/markdown;base64," + DOCUMENT}}, NOTES),
        ({"type": "txt_url", "txt_url": "data:text/plain,gate%20code%204417"}, "gate code 4417"),
        ("a\x00b \ud83d", "a b  "),
    ],
)
def test_text_is_kept_whatever_the_shape_of_the_content(content: Any, text: str) -> None:
    assert read({"role": "user", "content": content}) == [(0, "user", text)]


@pytest.mark.parametrize(
    ("part", "rule"),
    [
        ({"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}, "fetch_disabled"),
        ({"type": "pdf_url", "pdf_url": {"url": "https://example.org/a.pdf"}}, "fetch_disabled"),
        ({"type": "txt_url", "txt_url": {"url": "http://example.org/a.txt"}}, "fetch_disabled"),
        ({"type": "txt_url", "txt_url": {"url": "file:///etc/passwd"}}, "fetch_disabled"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, "image_not_read"),
        ({"type": "pdf_url", "pdf_url": {"url": "data:application/pdf;base64,AAAA"}}, "pdf_not_read"),
        ({"type": "txt_url", "txt_url": {"url": "%%%"}}, "part_unreadable"),
        ({"type": "txt_url", "txt_url": {"url": "data:text/plain;base64,/////w=="}}, "part_unreadable"),
        ({"type": "txt_url"}, "part_unreadable"),
        ({"type": "text"}, "part_unreadable"),
        ({"type": "audio"}, "part_unknown"),
        (7, "part_unknown"),
    ],
)
def test_a_part_that_is_not_read_is_told_and_its_neighbours_are_kept(part: Any, rule: str) -> None:
    found, outcomes = turns([{"role": "user", "content": [part, {"type": "text", "text": "kept"}]}], None, NOW)
    assert [turn.text for turn in found] == ["kept"]
    assert [(outcome.outcome, outcome.rule) for outcome in outcomes] == [("filtered", rule)]


def test_messages_without_text_are_left_out_and_the_others_keep_their_place() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    assert read(
        {"role": "system", "content": "You are Helper"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "42"},
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": " "},
        {"role": "agent", "content": "done"},
        {"role": "narrator", "content": "meanwhile"},
        {"role": "user", "content": "thanks"},
    ) == [
        (0, "system", "You are Helper"),
        (2, "tool", "42"),
        (3, "developer", "be brief"),
        (5, "assistant", "done"),
        (6, "tool", "meanwhile"),
        (7, "user", "thanks"),
    ]


def test_the_name_is_who_speaks() -> None:
    messages = [{"role": "user", "content": "hi", "name": name} for name in (" Nora ", 5)]
    found, _ = turns(messages, None, NOW)
    assert [turn.name for turn in found] == ["Nora", None]


def test_a_message_s_own_time_wins_over_the_request_s_which_wins_over_now() -> None:
    own = {"role": "user", "content": "a", "timestamp": "2023-05-08T13:56:00+08:00"}
    plain = {"role": "user", "content": "b"}
    assert turns([own], 1684922400, NOW)[0][0].said_at == datetime(2023, 5, 8, 5, 56, tzinfo=UTC)
    assert turns([plain], 1684922400, NOW)[0][0].said_at == datetime(2023, 5, 24, 10, tzinfo=UTC)
    assert turns([plain], "nonsense", NOW)[0][0].said_at == NOW


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1684922400, datetime(2023, 5, 24, 10, tzinfo=UTC)),
        (1684922400000, datetime(2023, 5, 24, 10, tzinfo=UTC)),
        ("1684922400", datetime(2023, 5, 24, 10, tzinfo=UTC)),
        ("2023-05-24", datetime(2023, 5, 24, tzinfo=UTC)),
        ("2023-05-24T10:00:00Z", datetime(2023, 5, 24, 10, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (datetime(2023, 5, 24), datetime(2023, 5, 24, tzinfo=UTC)),
        (True, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**30, None),
        ("0001-01-01T00:00:00+14:00", None),
        ("soon", None),
        (None, None),
        ([], None),
    ],
)
def test_moments(value: object, expected: datetime | None) -> None:
    assert moment(value) == expected
