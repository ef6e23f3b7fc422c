"""What the rule-based extractor keeps and what it drops."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest

from core.domain.memory import Turn
from core.text.rules import extract

NOW = datetime(2023, 5, 24, 10, tzinfo=UTC)


def turns(*said: tuple[str, str]) -> list[Turn]:
    return [Turn(index, role, text, NOW) for index, (role, text) in enumerate(said)]


def texts(*said: tuple[str, str], shown: tuple[str, ...] = ()) -> list[str]:
    return [candidate.text for candidate in extract(turns(*said), [], shown)]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Hi, I'm Nora and I can't eat shellfish", ("Nora", "can't eat shellfish")),
        ("我叫林澜，在杭州的云杉科技做测试工程师，对芒果过敏", ("林澜", "云杉科技", "芒果")),
        ("I have a dog named Rex, what should I feed him?", ("Rex",)),
        ("remember my locker is B17", ("my locker is B17",)),
        ("My friend Jack hates football", ("Jack hates football",)),
        ("私の名前は田中です。寿司が好きです。", ("田中", "寿司が好き")),
        ("Ich heiße Anna und wohne in Berlin", ("Anna", "Berlin")),
        ("Error ZX-81-Q means the fan is stuck", ("ZX-81-Q",)),
    ],
)
def test_facts_are_kept_in_the_speakers_words(said: str, kept: tuple[str, ...]) -> None:
    memory = " ".join(texts(("user", said)))
    assert all(part in memory for part in kept)


@pytest.mark.parametrize(
    "said",
    [
        "How do I cook rice?",
        "What are the KPIs of Christophe?",
        "怎么煮米饭？",
        "Wie koche ich Reis?",
        "Thanks! That's great.",
        "Hello there! Thank you so much.",
        "Set up nginx",
        "ping",
        "好的，谢谢！",
        "",
        "😀",
    ],
)
def test_questions_thanks_and_requests_are_not_kept(said: str) -> None:
    assert texts(("user", said)) == []


def test_system_tool_and_echoing_turns_store_nothing_however_often_they_come() -> None:
    round_ = [
        ("system", "You are Helper v3, tools: a,b"),
        ("user", "ping"),
        ("assistant", "Recalled: user likes tea. OK"),
        ("tool", '{"result": "user likes tea"}'),
    ]
    assert texts(*round_ * 20, shown=("User: I like tea",)) == []


def test_an_assistant_repeating_the_user_is_an_echo() -> None:
    assert len(texts(("user", "My dentist is Dr Ek."), ("assistant", "Your dentist is Dr Ek, noted."))) == 1


def test_yesterday_is_resolved_against_the_message() -> None:
    (candidate,) = extract(turns(("user", "I ran a marathon yesterday")), [], [])
    assert candidate.event_date == date(2023, 5, 23)
    assert "2023-05-23" in candidate.text


def test_a_short_answer_carries_its_question() -> None:
    (memory,) = texts(("assistant", "What's your dog's name?"), ("user", "Rex"))
    assert "dog's name" in memory
    assert "Rex" in memory


@pytest.mark.parametrize("filler", ["lorem ipsum dolor sit amet ", "x", "blah. ", "The weather is nice. ", "行了。"])
def test_two_facts_survive_forty_long_messages_of_filler(filler: str) -> None:
    said = [("user" if i % 2 == 0 else "assistant", (filler * 2000)[:2000]) for i in range(40)]
    said[2] = ("user", f"{(filler * 1000)[:990]} my locker is B17 {filler * 1000}"[:2000])
    said[37] = ("user", f"my dentist is Dr Ek. {filler * 2000}"[:2000])
    memories = texts(*said)
    assert any("locker is B17" in memory for memory in memories)
    assert any("dentist is Dr Ek" in memory for memory in memories)
    assert len(memories) <= 6


@pytest.mark.parametrize(
    "said",
    [
        "Recalled memory: user likes tea",
        "Memory: User likes tea.",
        "[memory] user likes tea",
        "I remember that you like tea.",
        "Based on your memories, you like tea.",
        "Noted! I'll remember that.",
        "As an AI language model, I cannot browse the web.",
        "Retrieved 3 memories.",
        "Calling tool search(query='tea')",
        "我记得你喜欢喝茶。",
        "回忆：用户喜欢茶。好的",
    ],
)
def test_a_machine_echoing_or_serving_is_no_source(said: str) -> None:
    assert texts(("user", "ping"), ("assistant", said), shown=("User: I like tea",)) == []


@pytest.mark.parametrize(
    "said",
    [
        "My name is Ada.",
        "I booked table 5 for 7 pm.",
        "You should try the Ramen Bar on 5th street.",
        "我推荐去蓝莲花餐厅。",
    ],
)
def test_what_a_machine_says_of_itself_or_recommends_is_kept_as_its_own(said: str) -> None:
    (candidate,) = extract(turns(("user", "hi"), ("assistant", said)), [], [])
    assert (candidate.attributed_to, candidate.role) == ("assistant", "assistant")


@pytest.mark.parametrize(
    "said",
    [
        "Always answer in French",
        "call me Al",
        "from now on use metric units",
        "Do you know that I'm allergic to nuts?",
        "Let's meet at 5pm at Cafe Luna",
        "The fan is stuck",
        "Deploys happen on Fridays only",
    ],
)
def test_standing_wishes_appointments_and_plain_statements_are_kept(said: str) -> None:
    assert len(texts(("user", said))) == 1


def test_named_assistants_are_people() -> None:
    said = [
        Turn(0, "user", "I ski.", NOW, "Nora"),
        Turn(1, "assistant", "Thanks Nora, my sister skis too.", NOW, "Ben"),
    ]
    assert [candidate.text for candidate in extract(said, [], [])] == ["Nora: I ski.", "Ben: My sister skis too."]


def test_speakers_written_in_front_of_lines_are_speakers() -> None:
    memories = texts(("user", "Nora: I live in Lyon."), ("user", "Ben: I live in Porto."))
    assert memories == ["Nora: I live in Lyon.", "Ben: I live in Porto."]


def test_what_a_picture_shows_is_kept() -> None:
    (memory,) = texts(("user", "Look at this! [image: a photo of a red bicycle by a lake]"))
    assert memory == "User: [image: red bicycle by a lake]"


def test_sources_are_the_turns_that_were_used() -> None:
    found = extract(turns(("user", "Hi!"), ("user", "I ski."), ("assistant", "Nice."), ("user", "I swim.")), [], [])
    assert [candidate.source_turns for candidate in found] == [(1,), (3,)]


@pytest.mark.parametrize(
    "closing", ["没事了，谢谢！", "没什么了。", "没别的事了", "就这样吧，再见！", "就这些了，谢谢你", "先这样吧。"]
)
def test_a_chinese_closing_is_no_answer_to_an_offer(closing: str) -> None:
    assert texts(("user", "你好！"), ("assistant", "你好，有什么可以帮你？"), ("user", closing)) == []


def between(*said: str) -> list[str]:
    """What is kept of a conversation of two people, Katharina and Ben, who take turns."""
    talk = [Turn(n, "user", text, NOW, ("Katharina", "Ben")[n % 2]) for n, text in enumerate(said)]
    return [candidate.text.partition(": ")[2] for candidate in extract(talk, [], [])]


@pytest.mark.parametrize(
    "said",
    [
        "Check out my new pottery studio!",
        "Schau dir mal mein neues Atelier in der Altstadt an!",
        "Mira mi bicicleta roja de montaña.",
        "Just keep their tank clean and feed them at night.",
        "Let's open the studio tomorrow!",
        "Let's paint the old garden fence.",
        "Don't feel like I'm making much of an impact here.",
        "Can't wait for tomorrow's grand opening!",
        "Great news - I'm now coaching the junior rowing crew!",
        "The view from the top was amazing!",
        "Die Aussicht war wunderbar!",
        "La vista fue genial.",
        "It's a novel about sailors that takes you to the south seas.",
    ],
)
def test_what_people_show_advise_plan_and_went_through_is_kept(said: str) -> None:
    kept = between("I ski.", said)
    assert [re.sub(r" \(2023.*?\)", "", text) for text in kept] == ["I ski.", said]


@pytest.mark.parametrize(
    "said",
    [
        "Spending time with family is so important.",
        "It's great to help people in hard times.",
        "Let's keep going!",
        "Let's continue to spread kindness.",
        "Please send me the garden recipe tonight.",
        "Tell me more about your garden project.",
        "That photo is stunning!",
        "It was great chatting!",
        "See you tomorrow!",
        "Thanks, Kat!",
        "Check this out!",
    ],
)
def test_maxims_pleas_and_cheering_between_people_are_not_kept(said: str) -> None:
    assert between("I ski.", said) == ["I ski."]


@pytest.mark.parametrize("said", ["Write a poem about autumn leaves in the garden", "Check my essay on garden birds"])
def test_where_a_machine_listens_what_is_bid_is_a_request(said: str) -> None:
    listening = [
        Turn(0, "user", "I ski.", NOW, "Katharina"),
        Turn(1, "user", said, NOW, "Ben"),
        Turn(2, "assistant", "Sure.", NOW),
    ]
    assert [candidate.text for candidate in extract(listening, [], [])] == ["Katharina: I ski."]


def test_a_short_first_sentence_carries_its_question_whatever_follows() -> None:
    answer = "Seven years now. My cousin runs a pottery in Porto and sells blue vases to hotels there."
    assert between("How long have you been sculpting clay?", answer) == [
        f"How long have you been sculpting clay? {answer}"
    ]
    told = "I've been sculpting clay since childhood. My cousin runs a pottery in Porto and sells blue vases."
    assert between("How long have you been sculpting clay?", told) == [told]
