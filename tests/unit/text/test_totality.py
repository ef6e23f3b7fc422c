"""Any text may come in: nothing here raises, and results keep their promises."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.domain.memory import Turn
from core.text.bm25 import document, query
from core.text.dates import mentions
from core.text.entities import entities, entity_keys, entity_sparse, query_keys
from core.text.grounding import ungrounded
from core.text.normalise import canonical, content_hash, fold
from core.text.rules import extract
from core.text.sentences import sentences
from core.text.similar import near_duplicate
from core.text.squeeze import squeeze
from core.text.tokens import tokens

NOW = datetime(2024, 2, 29, 12, tzinfo=UTC)
ODD = "\x00 \ufffe \ud800 \u202e ﷺ 𝒜 ǅ İ ß ﬁ ½ ٣ 二〇 〇 'n't ... \"“「 2024-02-30 32.13.2024 0 days ago in 999 years"
PIECES = st.sampled_from(
    """I my can't not 2 two 二 yesterday last week 上周 昨日 vor 3 Tagen hace dos días Dr. Ek ZX-81-Q 「云」 : ?
    。 \n - ``` {
    } [image: x] Recalled: user Anna: 我叫 さん ß ' " , 1.5 5/7/2024 https://a.b/c 😀""".split(" ")  # noqa: SIM905
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map(" ".join))


@given(TEXTS)
@example(ODD)
@settings(max_examples=200, deadline=None)
def test_any_text_is_analysed(text: str) -> None:
    assert all(token for token in tokens(text))
    assert len(document(text).indices) == len(set(query(text).indices))
    assert canonical(canonical(text)) == canonical(text)
    assert fold(fold(text)) == fold(text)
    assert len(content_hash(text)) == 32
    found = entities(text, "Ann")
    assert len({entity.key for entity in found}) == len(found)
    assert all(entity_keys(entity)[0] == entity.key for entity in found)
    assert len(entity_sparse(query_keys(text)).indices) == len(set(query_keys(text)))


@given(TEXTS)
@example(ODD)
@settings(max_examples=200, deadline=None)
def test_sentences_lose_no_letter(text: str) -> None:
    parts = sentences(text)
    assert all(part and part == part.strip() for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@given(TEXTS)
@example(ODD)
@settings(max_examples=200, deadline=None)
def test_date_mentions_are_ordered_disjoint_and_point_into_the_text(text: str) -> None:
    end = 0
    for mention in mentions(text, NOW):
        assert text[slice(*mention.span)] == mention.text
        assert mention.span[0] >= end
        assert mention.start <= mention.end
        end = mention.span[1]


@given(TEXTS, TEXTS)
@example(ODD, ODD)
@settings(max_examples=150, deadline=None)
def test_extraction_grounding_and_likeness_accept_any_two_texts(one: str, other: str) -> None:
    turns = [Turn(0, "user", one, NOW), Turn(1, "assistant", other, NOW, "Bo")]
    for candidate in extract(turns, turns, [other]):
        assert candidate.text.strip()
        assert candidate.source_turns
    assert ungrounded(one, [other]) is None or ungrounded(one, [other])
    assert near_duplicate(one, one, None)
    assert near_duplicate(one, other, 0.99) == near_duplicate(other, one, 0.99)


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "a " * 25_000, "我" * 20_000, "?!" * 10_000, "1-" * 10_000, "「" * 10_000]
)
def test_long_monotonous_texts_take_no_long_time(text: str) -> None:
    assert len(squeeze(text)) < 200
    tokens(text)
    entities(text)
    extract([Turn(0, "user", text, NOW)], [], [])
