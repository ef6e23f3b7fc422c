"""What follows from the verdict on the best hit, without stores."""

from __future__ import annotations

from itertools import pairwise
from uuid import UUID

import pytest

from core.domain.abstention import Nearness, contrast
from core.domain.ranking import PARTS, Ranked, Scale
from core.domain.ranking_params import DEFAULT
from core.services.abstain import lifted
from core.text.lang.neutral import NEUTRAL, neutral_questions
from core.text.language import foreign


def _hits(*scores: float) -> list[Ranked]:
    return [
        Ranked(UUID(int=number), score, dict.fromkeys(PARTS, score / 4)) for number, score in enumerate(scores, 1)
    ]


def test_lifting_moves_no_hit_past_another_and_parts_go_on_adding_up() -> None:
    after = lifted(_hits(0.15, 0.05, 0.05), 0.3)
    assert [hit.id.int for hit in after] == [1, 2, 3]
    assert [hit.score for hit in after] == pytest.approx([0.3, 0.1, 0.1])
    assert [sum(hit.breakdown.values()) for hit in after] == pytest.approx([hit.score for hit in after])


@pytest.mark.parametrize("least", [0.0, 0.3])
def test_nothing_is_lowered(least: float) -> None:
    assert lifted(_hits(0.4, 0.2), least) == _hits(0.4, 0.2)


def test_every_language_has_neutral_questions_and_unknown_ones_borrow() -> None:
    assert len({len(texts) for texts in NEUTRAL.values()}) == 1
    assert neutral_questions("ja") == NEUTRAL["ja"]
    borrowed = neutral_questions("xx")
    assert all(set(texts) & set(borrowed) for texts in NEUTRAL.values())
    assert len(borrowed) == 2 * len(NEUTRAL)


@pytest.mark.parametrize(
    ("query", "text", "surely"),
    [
        ("Where do we live?", "Wir sind im Mai nach Porto gezogen.", True),
        ("Wo wohnen wir?", "Wir sind im Mai nach Porto gezogen.", False),
        ("Quantenchromodynamik", "Ich war in Porto und es hat geregnet.", False),
        ("量子力学", "火曜日の夜はピアノのレッスンがあります", False),
        ("他什么时候上钢琴课？", "火曜日の夜はピアノのレッスンがあります", True),
        ("いつですか", "每个星期二晚上我上钢琴课。", True),
        ("piano", "每个星期二晚上我上钢琴课。", True),
    ],
)
def test_a_single_word_is_in_no_language_for_sure(query: str, text: str, surely: bool) -> None:
    assert foreign(query, text) is surely


_SCALE = Scale(0.75, 0.95)


@pytest.mark.parametrize("others", [DEFAULT.usual_from, DEFAULT.usual_from + 1, 89])
def test_enough_memories_say_themselves_what_is_usual(others: int) -> None:
    usual = Nearness(0.80, 0.01)
    best = Nearness(0.88, 0.09)
    expected = (best.beyond - usual.beyond) / (1 - usual.cosine) ** DEFAULT.contrast_power
    assert contrast([usual] * others + [best], _SCALE, DEFAULT) == pytest.approx(expected)


def test_of_few_memories_what_is_usual_goes_over_from_what_is_assumed() -> None:
    """Nobody can tell from one other memory that a question is about neither."""
    best, near = Nearness(0.88, 0.09), Nearness(0.87, 0.08)
    found = [contrast([best] + [near] * others, _SCALE, DEFAULT) for others in range(DEFAULT.usual_from + 3)]
    assert found[: DEFAULT.usual_from + 1] == sorted(found[: DEFAULT.usual_from + 1], reverse=True)
    assert len({round(value, 9) for value in found[DEFAULT.usual_from :]}) == 1
    steps = {round(one - other, 3) for one, other in pairwise(found[: DEFAULT.usual_from + 1])}
    assert max(steps) < 0.5 * (found[0] - found[-1]), "no jump"
