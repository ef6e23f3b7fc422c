"""Where sentences end, and where they only seem to."""

from __future__ import annotations

import pytest

from core.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("I ski. You swim!", ["I ski.", "You swim!"]),
        ("Dr. Ek lives at 3.5 km from St. Paul. He's 40.", ["Dr. Ek lives at 3.5 km from St. Paul.", "He's 40."]),
        ("J. R. R. Tolkien wrote it.", ["J. R. R. Tolkien wrote it."]),
        ("See https://a.b/c.d?e=1. Ok", ["See https://a.b/c.d?e=1.", "Ok"]),
        ("Mail me at a.b@c.org. Thanks", ["Mail me at a.b@c.org.", "Thanks"]),
        ("Ich wurde am 3. Mai geboren. Das ist z.B. gut.", ["Ich wurde am 3. Mai geboren.", "Das ist z.B. gut."]),
        ("我叫林澜。我在杭州工作！你呢？", ["我叫林澜。", "我在杭州工作！", "你呢？"]),
        ("今日は。元気ですか？", ["今日は。", "元気ですか？"]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("1. first\n2. second\n- third", ["1. first", "2. second", "- third"]),
        ("`a.b. C` is code. Done", ["`a.b. C` is code.", "Done"]),
        ("i like it. it is good", ["i like it.", "it is good"]),
        ("Yes!! 😀 Fine", ["Yes!!", "😀 Fine"]),
        ("...", ["..."]),
        ("", []),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts
