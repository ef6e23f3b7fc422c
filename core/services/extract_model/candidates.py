"""From the items of an answer to candidates: what is valid is kept, what is not is ignored, nothing is invented."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, TypeVar

from core.domain.memory import Candidate, Entity, Relation, Supersede, Turn
from core.domain.outcomes import Outcome
from core.ports.extraction import ExtractionRequest
from core.services.extract_model.parse import without_answers
from core.services.extract_model.prompt import ENTITY_TYPES, SUPERSEDE_KINDS
from core.services.extract_model.windows import Window
from core.text.budget import clean
from core.text.dates import mentions
from core.text.entities import canonical_key, entities
from core.text.grounding import ungrounded
from core.text.questions import asks
from core.text.sentences import sentences
from core.text.sifting import Kind, sift
from core.text.tokens import tokens

T = TypeVar("T")
_SIDES = ("user", "assistant")
_SPEAKERS = ("User", "Assistant", "用户", "助手", "El usuario", "El asistente", "L'utilisateur", "Der Nutzer")
_MOST_PARTS = 32  # entities, relations, categories, indexes of one memory


@dataclass(frozen=True)
class Ground:
    """What candidates of one window may rest on. `sources` are in the order in which they were said: the grounding
    rules look at what a question was answered with."""

    request: ExtractionRequest
    turns: Sequence[Turn]
    sources: Sequence[str]
    names: Sequence[str]
    dates: frozenset[date]

    @classmethod
    def of(cls, request: ExtractionRequest, window: Window) -> Ground:
        told = [*request.earlier, *window.before, *window.turns]
        names = list(dict.fromkeys(turn.name for turn in told if turn.name))
        sources = [*(memory.text for memory in request.shown), *(without_answers(turn.text) for turn in told)]
        return cls(request, window.turns, sources, names, frozenset(_resolved(window.turns)))


def candidate(item: dict[str, Any], ground: Ground) -> Candidate | Outcome:
    """The candidate of one item, or the outcome `filtered`: rule `chatter`, or `ungrounded` and what is not said."""
    text = " ".join(clean(str(item["text"])).split())
    if _chatter(text, ground):
        return Outcome("filtered", text, rule="chatter")
    sources = _source_turns(item.get("turns"), text, ground)
    side = _side(item.get("attributed_to"), sources, ground)
    own = [turn for turn in sources if turn.role == side] or list(sources)
    when = _date(item.get("event_date"))
    unsupported = ungrounded(text, ground.sources, allowed=[*_SPEAKERS, *ground.names, *_written(ground, when)])
    if unsupported is not None:
        return Outcome("filtered", text, rule="ungrounded", detail=unsupported)
    replaced = tuple(_supersedes(item.get("supersedes"), ground))
    taken = {entry.index for entry in replaced}
    return Candidate(
        text=text,
        attributed_to=side,
        role=own[0].role if own else side,
        actor_id=own[0].name if own else None,
        entities=_entities(item.get("entities"), text, ground),
        relations=tuple(_relations(item.get("relations"))),
        categories=_categories(item.get("categories"), ground),
        event_date=when,
        supersedes=replaced,
        merges=tuple(index for index in _indexes(item.get("merges"), ground) if index not in taken),
        linked=tuple(_indexes(item.get("linked"), ground)),
        source_turns=tuple(dict.fromkeys(turn.index for turn in sources)),
    )


def _chatter(text: str, ground: Ground) -> bool:
    """A bare question; or a message's own small talk or request, only repeated by the model."""
    parts = sentences(text)
    if all(map(asks, parts)):
        return True
    repeated = any(text.casefold() in " ".join(turn.text.split()).casefold() for turn in ground.turns)
    return repeated and all(sift(part).kind is not Kind.TELLS for part in parts)


def _source_turns(raw: Any, text: str, ground: Ground) -> list[Turn]:
    """The turns the model names; where it names none that exist, the one that shares most words with the text."""
    named = {number for number in _list(raw) if isinstance(number, int) and not isinstance(number, bool)}
    found = [turn for turn in ground.turns if turn.index in named]
    if found:
        return found
    words = set(tokens(text))
    shared = [(len(words & set(tokens(turn.text))), -turn.index, turn) for turn in ground.turns]
    best = max(shared, key=lambda entry: entry[:2], default=None)
    return [best[2]] if best is not None and best[0] else []


def _side(raw: Any, sources: Sequence[Turn], ground: Ground) -> str:
    """Whose fact it is: as the model says, if that side speaks here at all; else as its first source."""
    speaking = {turn.role for turn in ground.turns}
    if raw in _SIDES and raw in speaking:
        return str(raw)
    if sources:
        return sources[0].role
    return "user" if "user" in speaking else "assistant"


def _entities(raw: Any, text: str, ground: Ground) -> tuple[Entity, ...]:
    """The model's entities that occur in the text or its sources; where it gives none, those that the text shows."""
    around = "\n".join([text, *ground.sources, *ground.names]).casefold()
    found: dict[str, Entity] = {}
    for entry in _list(raw):
        name = _short(entry.get("name") if isinstance(entry, dict) else entry)
        if name and name.casefold() in around:
            given = entry.get("type") if isinstance(entry, dict) else None
            key = canonical_key(name)
            found.setdefault(key, Entity(name, key, given if given in ENTITY_TYPES else "other"))
    return tuple(found.values()) or entities(text)


def _relations(raw: Any) -> Iterable[Relation]:
    for entry in _list(raw):
        if not isinstance(entry, dict):
            continue
        source, relation, target = (_short(entry.get(key)) for key in ("source", "relation", "target"))
        if source and relation and target:
            yield Relation(source, relation, target)


def _categories(raw: Any, ground: Ground) -> tuple[str, ...]:
    """Names from the given list only, in its spelling."""
    known = {name.casefold(): name for name in ground.request.instructions.categories}
    given = [_short(entry).casefold() for entry in _list(raw)]
    return tuple(dict.fromkeys(known[name] for name in given if name in known))


def _supersedes(raw: Any, ground: Ground) -> Iterable[Supersede]:
    seen: set[int] = set()
    for entry in _list(raw):
        fields = entry if isinstance(entry, dict) else {"index": entry}
        index = _index(fields.get("index"), ground)
        if index is not None and index not in seen:
            seen.add(index)
            kind = fields.get("kind")
            yield Supersede(index, kind if kind in SUPERSEDE_KINDS else "changed")


def _indexes(raw: Any, ground: Ground) -> list[int]:
    found = [_index(entry, ground) for entry in _list(raw)]
    return list(dict.fromkeys(index for index in found if index is not None))


def _index(raw: Any, ground: Ground) -> int | None:
    """The place in `shown` of a number as the model saw it (from 1), or None for one that was never shown."""
    number = _parsed(raw, int) if isinstance(raw, int | str) and not isinstance(raw, bool) else None
    return number - 1 if number is not None and 1 <= number <= len(ground.request.shown) else None


def _date(raw: Any) -> date | None:
    """A date or the date of a time; anything else is ignored."""
    return _parsed(raw[:10], date.fromisoformat) if isinstance(raw, str) else None


def _parsed(raw: Any, read: Callable[[Any], T]) -> T | None:
    try:
        return read(raw)
    except ValueError:
        return None


def _written(ground: Ground, when: date | None) -> list[str]:
    """Dates that a candidate may spell out though nobody said them: relative ones, resolved, and the days of saying.

    An event date that no date expression of the messages leads to supports nothing.
    """
    days = set(ground.dates)
    if when is not None and any(abs(when - day) <= timedelta(days=1) for day in days):
        days.add(when)
    return [day.isoformat() for day in sorted(days)]


def _resolved(turns: Sequence[Turn]) -> Iterable[date]:
    for turn in turns:
        yield turn.said_at.date()
        for mention in mentions(turn.text, turn.said_at):
            yield mention.start
            yield mention.end


def _short(raw: Any) -> str:
    text = " ".join(clean(raw).split()) if isinstance(raw, str) else ""
    return text if len(text) <= 200 else ""


def _list(raw: Any) -> list[Any]:
    return raw[:_MOST_PARTS] if isinstance(raw, list) else []
