"""The rule-based extractor (design §5): conversation in, candidate memories out, without a model.

It keeps the speaker's own words and language. Each turn is cleaned of machine traffic, cut into sentences,
sifted, and what tells something is put together again, named and dated, a few sentences to a memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from core.domain.memory import Candidate, Turn
from core.text.clauses import content
from core.text.dates import DateMention, mentions
from core.text.entities import entities
from core.text.lang.chatter import (
    ADDRESSING,
    ADVICE,
    ATTACHMENT,
    ECHO_LINE,
    FIRST_PERSON,
    MACHINE_BLOCK,
    RECOMMENDING,
    SERVICE,
    SPEAKER_LABELS,
)
from core.text.lang.names import COMMON
from core.text.lang.paraphrase import OPENING_NOUNS
from core.text.lang.roles import ROLES
from core.text.language import language
from core.text.normalise import fold
from core.text.scripts import is_cjk
from core.text.sentences import sentences
from core.text.sifting import Kind, Sifted, fragment, informative, sift, specific
from core.text.similar import near_duplicate
from core.text.squeeze import squeeze

MAX_MEMORY = 400  # characters of one memory, about 100 tokens of an embedder
ECHO = 0.7  # share of a sentence's content that a shown memory or the user said before, to be an echo
TOPIC = 2  # informative words that make a question worth carrying along
SHORT_ANSWER = 6  # informative words up to which an answer needs its question
_SPEAKER = re.compile(r"^\s*([A-ZÀ-Þ][\w.'’\-]*(?: [A-ZÀ-Þ][\w.'’\-]*){0,2}|[\u4e00-\u9fff]{2,4})\s*[:：]\s+(?=\S)")
_PICTURE_OF = re.compile(
    r"^(?:an? )?(?:close[- ]up )?(?:photo|photograph|photography|picture|image|shot|pic) of (?=\w)", re.I
)
_BULLET = re.compile(r"^\s*[-*•]\s+")


@dataclass
class _Said:
    """One turn being worked on. `speaker` is a name or None."""

    turn: Turn
    speaker: str | None
    sifted: list[Sifted] = field(default_factory=list)


def extract(turns: Sequence[Turn], earlier: Sequence[Turn], shown: Sequence[str]) -> list[Candidate]:
    """Candidates of the new `turns`, in order. `earlier` turns give context, `shown` memories are never repeated
    back.

    Only user and assistant turns are sources. Near duplicates inside the answer collapse into the first.
    """
    speakers = _speakers([*earlier, *turns])
    asked = _last_question(earlier)
    heard = [content(text) for text in shown]
    found: list[Candidate] = []
    for turn in turns:
        if turn.role not in ("user", "assistant"):
            continue
        said = _said(turn, speakers)
        found.extend(_memories(said, asked, heard))
        if turn.role == "user":
            heard.append(content(turn.text))
        asked = _question([sifted.text for sifted in said.sifted if sifted.kind is Kind.ASKS])
    return _distinct(found)


def _speakers(turns: Sequence[Turn]) -> frozenset[str]:
    """Names of the speakers: given with the message, or written in front of at least half of several messages."""
    spoken = [turn for turn in turns if turn.role in ("user", "assistant")]
    prefixes = [match.group(1) for turn in spoken if (match := _SPEAKER.match(turn.text)) and _named(match)]
    written = prefixes if len(prefixes) >= 2 and 2 * len(prefixes) >= len(spoken) else []
    return frozenset(written) | {turn.name for turn in spoken if turn.name}


def _named(match: re.Match[str]) -> bool:
    """Not "Recalled:", "Question:" or "User:", which head a line and name nobody."""
    return not ECHO_LINE.match(match.group()) and fold(match.group(1)) not in COMMON | ROLES | OPENING_NOUNS


def _prefix(text: str, speakers: frozenset[str]) -> tuple[str | None, str]:
    """("Nora", "I ski.") of "Nora: I ski.", if Nora is a speaker; else (None, text)."""
    match = _SPEAKER.match(text)
    if match is None or match.group(1) not in speakers:
        return None, text
    return match.group(1), text[match.end() :]


def _last_question(earlier: Sequence[Turn]) -> str | None:
    spoken = [turn for turn in earlier if turn.role in ("user", "assistant")]
    return (
        _question([part for part in sentences(spoken[-1].text) if sift(part).kind is Kind.ASKS]) if spoken else None
    )


def _question(asked: Sequence[str]) -> str | None:
    """The last question that has a topic: "What do you think?" helps no answer."""
    return next((question for question in reversed(asked) if informative(question) >= TOPIC), None)


def _said(turn: Turn, speakers: frozenset[str]) -> _Said:
    names = frozenset(word for name in speakers for word in fold(name).split())
    prefix, text = _prefix(turn.text, speakers)
    said = _Said(turn, turn.name or prefix)
    shown = [_caption(match) for match in ATTACHMENT.finditer(text)]
    text = ATTACHMENT.sub("\n", text)
    text = squeeze("\n".join(_human_lines(MACHINE_BLOCK.sub("\n", text))))
    seen: set[str] = set()
    for sentence in sentences(text):
        for piece in _pieces(sentence):
            key = fold(piece)
            if key not in seen:
                seen.add(key)
                said.sifted.append(sift(_BULLET.sub("", piece), names))
    said.sifted.extend(Sifted(caption, Kind.TELLS, caption) for caption in shown if informative(caption) >= TOPIC)
    return said


def _caption(match: re.Match[str]) -> str:
    """ "[image: a dog]" of "[image: a photo of a dog]": what is seen, not that it is seen."""
    return f"[{match[1]}: {_PICTURE_OF.sub('', match[2].strip())}]"


def _human_lines(text: str) -> Iterator[str]:
    """Lines that somebody wrote: no recalled memories, nor the list under such a heading."""
    listing = False
    for line in text.splitlines():
        if ECHO_LINE.match(line):
            listing = not line.split(":")[-1].strip()
            continue
        listing = listing and bool(_BULLET.match(line))
        if not listing:
            yield line


def _pieces(sentence: str) -> Iterator[str]:
    """A sentence, or its parts where it is longer than a memory may be."""
    while len(sentence) > MAX_MEMORY:
        cut = max(sentence.rfind(mark, 80, MAX_MEMORY) for mark in (", ", "; ", "，", " and ", " my "))
        cut = cut if cut > 0 else max(sentence.rfind(" ", 80, MAX_MEMORY), 0) or MAX_MEMORY
        yield sentence[:cut].strip(" ,;，")
        sentence = sentence[cut:].strip(" ,;，")
    if sentence:
        yield sentence


def _memories(said: _Said, asked: str | None, heard: list[frozenset[str]]) -> Iterator[Candidate]:
    told = [sifted.told for sifted in said.sifted if sifted.kind is Kind.TELLS and _worth(said, sifted.told, heard)]
    for index, group in enumerate(_groups(told)):
        text = " ".join(group)
        needs = index == 0 and asked is not None and _needs(text, asked)
        if needs or not fragment(text):
            yield _candidate(said, text, asked if needs else None)
        if _machine(said):  # a long explanation is no memory; its beginning may be
            return


def _needs(answer: str, asked: str) -> bool:
    """An answer of few words that does not repeat what was asked says nothing without the question."""
    return informative(answer) < SHORT_ANSWER and content(answer).isdisjoint(content(asked))


def _machine(said: _Said) -> bool:
    """An assistant without a name; with one it is a person in a conversation of several."""
    return said.turn.role == "assistant" and said.speaker is None


def _worth(said: _Said, told: str, heard: list[frozenset[str]]) -> bool:
    """Of a machine's words, what it says of itself, recommends, or states with names or numbers.

    What it says to the user about the user is an echo, and so is what a shown memory or the user said before.
    """
    if not _machine(said):
        return True
    folded = fold(told)
    recommends = RECOMMENDING.search(folded) or ADVICE.match(folded)
    if SERVICE.search(folded) or (ADDRESSING.search(folded) and not recommends):
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


def _candidate(said: _Said, told: str, asked: str | None) -> Candidate:
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
        told = f"{told[:end]} ({_days(mention)}){told[end:]}"
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


def _distinct(found: list[Candidate]) -> list[Candidate]:
    kept: list[Candidate] = []
    for candidate in found:
        if not any(near_duplicate(candidate.text, other.text, None) for other in kept):
            kept.append(candidate)
    return kept
