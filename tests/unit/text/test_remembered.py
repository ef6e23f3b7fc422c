"""Results are kept by text, for short texts alone."""

from __future__ import annotations

from core.text.remembered import LONGEST, remembered


def test_short_texts_are_looked_at_once_and_long_ones_each_time() -> None:
    seen: list[str] = []

    @remembered(2)
    def length(text: str, factor: int = 1) -> int:
        seen.append(text)
        return len(text) * factor

    long = "x" * (LONGEST + 1)
    assert [length("tea"), length("tea"), length("tea", 2), length(long), length(long)] == [3, 3, 6, 1001, 1001]
    assert seen == ["tea", "tea", long, long], "with another factor anew"


def test_the_oldest_gives_way() -> None:
    seen: list[str] = []

    @remembered(1)
    def noted(text: str) -> None:
        seen.append(text)

    for text in ("one", "two", "one"):
        noted(text)
    assert seen == ["one", "two", "one"]
