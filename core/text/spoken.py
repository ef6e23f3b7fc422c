"""Turns made ready for extraction: whose they are, cleaned of machine traffic and repetition, sentence by
sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.domain.memory import Turn
from core.text.lang.machine import ATTACHMENT, ECHO_LINE, MACHINE_BLOCK
from core.text.lang.names import COMMON
from core.text.lang.paraphrase import OPENING_NOUNS
from core.text.lang.roles import ROLES
from core.text.normalise import fold
from core.text.sentences import sentences
from core.text.sifting import Kind, Sifted, informative, sift
from core.text.squeeze import squeeze

MAX_MEMORY = 400  # characters of one memory, about 100 tokens of an embedder
TOPIC = 2  # informative words that make a question, or a caption, worth carrying along
_SPEAKER = re.compile(r"^\s*([A-ZÀ-Þ][\w.'’\-]*(?: [A-ZÀ-Þ][\w.'’\-]*){0,2}|[\u4e00-\u9fff]{2,4})\s*[:：]\s+(?=\S)")
_PICTURE_OF = re.compile(
    r"^(?:an? )?(?:close[- ]up )?(?:photo|photograph|photography|picture|image|shot|pic) of (?=\w)", re.I
)
_ARTICLE = re.compile(r"^(?:an?|the) (?=\w)", re.I)
_ADDRESSED = re.compile(r"\b[A-ZÀ-Þ][^\W\d_]+(?=\s*[,.!?…])")
_BULLET = re.compile(r"^\s*[-*•]\s+")


@dataclass
class Said:
    """One turn being worked on. `speaker` is a name or None."""

    turn: Turn
    speaker: str | None
    sifted: list[Sifted] = field(default_factory=list)


def speakers_of(turns: Sequence[Turn]) -> frozenset[str]:
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


def last_question(earlier: Sequence[Turn], speakers: frozenset[str]) -> tuple[str | None, str]:
    """What the last earlier turn asked, if it has a topic, and who asked."""
    spoken = [turn for turn in earlier if turn.role in ("user", "assistant")]
    if not spoken:
        return None, ""
    prefix, text = _prefix(spoken[-1].text, speakers)
    asked = topical([part for part in sentences(text) if sift(part).kind is Kind.ASKS])
    return asked, who(spoken[-1], spoken[-1].name or prefix)


def who(turn: Turn, speaker: str | None) -> str:
    """Tells the people of a conversation apart: by name where they have one, else by role."""
    return speaker or turn.role


def topical(asked: Sequence[str]) -> str | None:
    """The last question that has a topic: "What do you think?" helps no answer."""
    return next((question for question in reversed(asked) if informative(question) >= TOPIC), None)


def people_only(turns: Sequence[Turn], speakers: frozenset[str]) -> bool:
    """Several named people talk, and no machine listens that a request could be meant for."""
    return len(speakers) > 1 and all(
        turn.role == "user" or (turn.role == "assistant" and (turn.name or _prefix(turn.text, speakers)[0]))
        for turn in turns
    )


def read(turn: Turn, speakers: frozenset[str], people: bool = False) -> Said:
    """A turn, its sentences sifted in order, each sentence once. `people`: as `people_only` says."""
    names = _called(speakers, turn.text)
    prefix, text = _prefix(turn.text, speakers)
    said = Said(turn, turn.name or prefix)
    shown = [_caption(match) for match in ATTACHMENT.finditer(text)]
    text = ATTACHMENT.sub("\n", text)
    text = squeeze("\n".join(_human_lines(MACHINE_BLOCK.sub("\n", text))))
    seen: set[str] = set()
    for sentence in sentences(text):
        for piece in _pieces(sentence):
            key = fold(piece)
            if key not in seen:
                seen.add(key)
                said.sifted.append(sift(_BULLET.sub("", piece), names, people))
    said.sifted.extend(Sifted(caption, Kind.TELLS, caption) for caption in shown if informative(caption) >= TOPIC)
    return said


def _called(speakers: frozenset[str], text: str) -> frozenset[str]:
    """Folded words of the speakers' names, and what they are called for short: "Thanks, Mel!" to Melanie."""
    names = {word for name in speakers for word in fold(name).split()}
    short = {fold(word) for word in _ADDRESSED.findall(text)} if names else set()
    return frozenset(names | {word for word in short if any(name.startswith(word) for name in names)})


def _caption(match: re.Match[str]) -> str:
    """ "[image: dog by a lake]" of "[image: a photo of a dog by a lake]": what is seen, not that it is seen."""
    seen = _ARTICLE.sub("", _PICTURE_OF.sub("", match[2].strip()))
    return f"[{match[1]}: {seen}]"


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
