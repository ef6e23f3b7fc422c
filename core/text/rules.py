"""The rule-based extractor: conversation in, candidate memories out, without a model.

It keeps the speaker's own words and language. Each turn is cleaned, cut into sentences and sifted
(`core.text.spoken`), and what tells something is put together again, named and dated, a few sentences to a memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from core.domain.memory import Candidate, Turn
from core.text.clauses import content
from core.text.dates import DateMention, mentions
from core.text.entities import entities
from core.text.lang.chatter import ADDRESSING, FIRST_PERSON
from core.text.lang.machine import ADVICE, RECOMMENDING, SERVICE, SPEAKER_LABELS
from core.text.language import language
from core.text.normalise import fold
from core.text.scripts import is_cjk
from core.text.sifting import Kind, fragment, informative, specific
from core.text.similar import retelling
from core.text.spoken import MAX_MEMORY, Said, last_question, people_only, read, speakers_of, topical, who

ECHO = 0.7  # share of a sentence's content that a shown memory or the user said before, to be an echo
SHORT_ANSWER = 6  # informative words up to which an answer needs its question
SHORT_BEGINNING = 4  # the same of its first sentence, where others follow


ACTED = re.compile(
    r"i(?:'ve| have)? (?!noted|noticed|recalled|remembered|learned|saved|stored|understood|wanted|hoped|checked)"
    r"(?:just |already )?(?:\w{3,}ed|sent|made|bought|wrote|found|set|put|paid|got|ran) (?!you\b|that you\b|your\b)"
    r"|我(?:已经|已|刚)?(?:帮|替|给|为)[你您](?:预?订|买|发|添加|安排|设置)"
)


def extract(turns: Sequence[Turn], earlier: Sequence[Turn], shown: Sequence[str]) -> list[Candidate]:
    """Candidates of the new `turns`, in order, told apart by more than wording.

    `earlier` turns give context; `shown` memories and the user's own words are never taken from a machine's mouth.
    Only user and assistant turns are sources.
    """
    speakers = speakers_of([*earlier, *turns])
    people = people_only([*earlier, *turns], speakers)
    asked, asker = last_question(earlier, speakers)
    heard = [content(text) for text in shown]
    found: list[Candidate] = []
    for turn in turns:
        if turn.role not in ("user", "assistant"):
            continue
        said = read(turn, speakers, people)
        answers = asked if asker != who(turn, said.speaker) else None  # nobody answers the own question
        found.extend(_memories(said, answers, heard))
        if turn.role == "user":
            heard.append(content(turn.text))
        asked = topical([sifted.text for sifted in said.sifted if sifted.kind is Kind.ASKS])
        asker = who(turn, said.speaker)
    return _distinct(found)


def _memories(said: Said, asked: str | None, heard: list[frozenset[str]]) -> Iterator[Candidate]:
    told = [sifted.told for sifted in said.sifted if sifted.kind is Kind.TELLS and _worth(said, sifted.told, heard)]
    for index, group in enumerate(_groups(told)):
        text = " ".join(group)
        needs = index == 0 and asked is not None and _needs(group, asked)
        if needs or not fragment(text):
            yield _candidate(said, text, asked if needs else None)
        if _machine(said):  # a long explanation is no memory; its beginning may be
            return


def _needs(answer: Sequence[str], asked: str) -> bool:
    """An answer of few words that does not repeat what was asked says nothing without the question.

    What answers is the first sentence; what is said after it may be of something else.
    """
    whole = " ".join(answer)
    short = informative(answer[0]) < SHORT_BEGINNING or informative(whole) < SHORT_ANSWER
    return short and content(answer[0]).isdisjoint(content(asked))


def _machine(said: Said) -> bool:
    """An assistant without a name; with one it is a person in a conversation of several."""
    return said.turn.role == "assistant" and said.speaker is None


def _worth(said: Said, told: str, heard: list[frozenset[str]]) -> bool:
    """Of a machine's words, what it says of itself, recommends, or states with names or numbers.

    What it says to the user about the user is an echo, and so is what a shown memory or the user said before.
    """
    if not _machine(said):
        return True
    folded = fold(told)
    recommends = RECOMMENDING.search(folded) or ADVICE.match(folded)
    acted = ACTED.match(folded)  # what it has done is its own fact, for whomever it did it
    if SERVICE.search(folded) or (ADDRESSING.search(folded) and not recommends and not acted):
        return False
    about = content(told)
    if not about or any(len(about & known) >= ECHO * len(about) for known in heard):
        return False
    return bool(recommends or FIRST_PERSON.search(folded) or specific(told))


def _groups(told: list[str]) -> Iterator[list[str]]:
    """Neighbouring sentences of one turn, as many as fit into one memory."""
    group: list[str] = []
    for sentence in told:
        if group and sum(map(len, group)) + len(sentence) > MAX_MEMORY:
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def _candidate(said: Said, told: str, asked: str | None) -> Candidate:
    turn = said.turn
    dates = mentions(told, turn.said_at)
    text = _dated(told, dates)
    labels = SPEAKER_LABELS.get(language(told), SPEAKER_LABELS["en"])
    speaker = said.speaker or labels[turn.role == "assistant"]
    question = f"{asked} " if asked else ""
    mark = "：" if is_cjk(speaker) else ": "
    return Candidate(
        text=f"{speaker}{mark}{question}{text}",
        attributed_to="assistant" if turn.role == "assistant" else "user",
        role=turn.role,
        actor_id=turn.name,
        entities=entities(f"{question}{told}", said.speaker),
        event_date=dates[0].start if dates else None,
        source_turns=(turn.index,),
    )


def _dated(told: str, dates: Sequence[DateMention]) -> str:
    """Relative dates get the days they mean behind them, each once: "yesterday (2023-05-23)"."""
    written = {mention.start: mention for mention in reversed(dates) if mention.relative}
    for mention in sorted(written.values(), key=lambda mention: mention.span, reverse=True):
        end = mention.span[1] + 2 * told.startswith(("'s", "’s"), mention.span[1])
        days = f"（{_days(mention)}）" if is_cjk(mention.text[-1]) else f" ({_days(mention)})"
        told = told[:end] + days + told[end:]
    return told


def _days(mention: DateMention) -> str:
    """ISO 8601: a day, a month, a year, or an interval with its end shortened where both share a month."""
    first, last = mention.start.isoformat(), mention.end.isoformat()
    if first == last:
        return first
    if first.endswith("-01-01") and last.endswith("-12-31"):
        return first[:4]
    if first[:7] == last[:7]:
        whole = mention.start.day == 1 and (mention.end + timedelta(days=1)).day == 1
        return first[:7] if whole else f"{first}/{last[8:]}"
    return f"{first}/{last}"


def _distinct(found: Sequence[Candidate]) -> list[Candidate]:
    kept = {retelling(candidate.text): candidate for candidate in reversed(found)}
    return [candidate for candidate in found if kept[retelling(candidate.text)] is candidate]
