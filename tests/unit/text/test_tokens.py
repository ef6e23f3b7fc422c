"""One analyser for index and query: what a question must share with its memory."""

from __future__ import annotations

import pytest

from core.text import bm25
from core.text.normalise import canonical, content_hash, fold
from core.text.tokens import tokens


def shared(query: str, memory: str) -> set[str]:
    return set(tokens(query)) & set(tokens(memory))


@pytest.mark.parametrize(
    ("query", "memory"),
    [
        ("ZX-81-Q", "Error ZX-81-Q means the fan is stuck"),
        ("zx81q", "Error ZX-81-Q means the fan is stuck"),
        ("ZX 81", "Error ZX-81-Q means the fan is stuck"),
        ("40017", "ticket 40017 is Ana's"),
        ("Ana", "ticket 40017 is Ana's"),
        ("周岚", "混合检索的负责人是周岚"),
        ("混合检索", "混合检索的负责人是周岚"),
        ("CN-A10293", "设备编号 ＣＮ－Ａ１０２９３"),
        ("ａ１０２９３", "CN-A10293"),
        ("sku_123", "order SKU_123, two pieces"),
        ("bar", "call foo.bar()"),
        ("C++", "She writes C++ for a living"),
        ("4417", "the code is 4,417"),
        ("Jose", "José lives in Málaga"),
        ("malaga", "José lives in Málaga"),
        ("Strasse", "in der Straße"),
        ("Kinder", "Wir haben mit den Kindern gespielt"),
        ("Hunde", "Ich habe einen Hund"),
        ("perros", "tengo un perro y un gato"),
        ("chiens", "j'ai un chien"),
        ("école", "il va à l'école"),
        ("children", "their child is five"),
        ("went running", "She goes running"),
        ("собака", "у меня нет собаки"),
        ("한국어", "저는 한국어를 공부합니다"),
        ("東京", "先週、東京に行った"),
        ("猫", "我养了一只猫"),
        ("スシ", "昨日スシを食べた"),
        ("ประเทศไทย", "ฉันอยู่ประเทศไทย"),
        ("हिन्दी", "मैं हिन्दी बोलता हूँ"),
        ("anna@example.org", "write to anna@example.org"),
    ],
)
def test_a_short_query_meets_its_memory(query: str, memory: str) -> None:
    assert shared(query, memory)


@pytest.mark.parametrize(
    ("query", "memory"),
    [
        ("Where is the cat?", "He is at the office"),
        ("我的猫呢", "你的车是红色的"),
        ("wo ist der Hund", "das ist der Baum"),
    ],
)
def test_grammar_alone_makes_no_match(query: str, memory: str) -> None:
    assert not shared(query, memory)


def test_a_query_of_stop_words_alone_still_has_tokens() -> None:
    assert tokens("The Who") == ["the", "who"]


def test_an_exact_word_weighs_more_than_its_stem() -> None:
    assert len(shared("running", "I like running")) > len(shared("running", "I run"))


def test_bm25_saturates_and_penalises_length() -> None:
    once, often = bm25.document("tea"), bm25.document("tea tea tea tea")
    assert max(once.values) < max(often.values) < 2.2
    assert max(bm25.document("tea " + "coffee " * 60).values[:1]) < max(once.values)
    assert set(bm25.query("tea tea").values) == {2.0}


def test_token_ids_are_the_same_in_every_process() -> None:
    assert bm25.token_id("tea") == 2437010009
    assert all(0 <= index < 2**32 for index in bm25.document("a mixed 混合 text 42").indices)


def test_a_sparse_vector_names_each_index_once() -> None:
    indices = bm25.document("tea and coffee, coffee and tea, 茶和咖啡").indices
    assert len(indices) == len(set(indices))


def test_canonical_text_and_its_hash() -> None:
    assert canonical("  I \t like\n\ntea ") == "I like tea"
    assert content_hash("I  like tea ") == content_hash("I like tea")
    assert content_hash("cafe\u0301") == content_hash("café")
    assert content_hash("I like tea") != content_hash("i like tea")
    assert content_hash("") == "d41d8cd98f00b204e9800998ecf8427e"


def test_folding_takes_width_case_and_typography_away() -> None:
    assert fold("ＣＮ－Ａ１０ Straße can’t") == "cn-a10 strasse can't"
