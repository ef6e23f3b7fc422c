"""What sources support together is what each supports: they are read one by one, and remembered."""

from __future__ import annotations

from itertools import combinations

import pytest

from core.text.clauses import content
from core.text.normalise import fold, unaccented
from core.text.numbers import months, numbers
from core.text.support import Support

_SOURCES = [
    "I moved to Straße 12 in May, don't call me before 10:30pm.",
    "`Ana` said: two-and-twenty 'cats'",
    "José, café – naïve “quotes”",
    "我在北京住了二十三年,喜欢 Python",
    "カメラを1台買った。誕生日は3月です",
    "제주도에서 왔어요",
    "",
    "1,234.50 or 12.5k\non two lines",
]


@pytest.mark.parametrize("code", ["en", "de", "zh", "ja"])
@pytest.mark.parametrize("texts", list(combinations(_SOURCES, 2)), ids=str)
def test_two_sources_support_what_one_of_both_lines_would(texts: tuple[str, str], code: str) -> None:
    both = "\n".join(texts)
    found = Support.of(texts, code)
    assert found.text == unaccented(fold(both))
    assert found.about == content(both, code)
    assert found.numbers == numbers(texts[0], strict=False) | numbers(texts[1], strict=False)
    assert found.squashed == Support.of([both], code).squashed
    assert found.words == Support.of([both], code).words
    assert found.prefixes == Support.of([both], code).prefixes
    assert months(texts[0]) | months(texts[1]) == months(both)
