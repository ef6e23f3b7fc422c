"""Puts LoCoMo conversations into Memlane and keeps account of which memory came from which turns.

Plain: each turn is one add, `"<speaker>: <text>"`, with `infer=false`. Inferred: each session is one add; its
messages carry the speaker as `name`, and both speakers have the role `user`, since both are people whose facts
matter; nothing but the session's date and the words goes in.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from deploy.bench.client import BenchError, Json, Memlane
from deploy.bench.locomo_data import Conversation, Session, Turn, count_tokens

_LONGEST_SECONDS_PER_EVENT = 5.0
_SHORTEST_WAIT_SECONDS = 300.0


@dataclass(frozen=True)
class Sent:
    """One accepted add and the turns that its messages were, in their order."""

    event_id: str
    turns: list[Turn]


@dataclass
class Loaded:
    """One conversation in the store. `sources` maps a memory's id to the ids of its turns."""

    conversation: Conversation
    user_id: str
    sources: dict[str, frozenset[str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    texts: list[str] = field(default_factory=list)  # of the memories that are there at the end
    usage: Counter[str] = field(default_factory=Counter)

    @property
    def raw_tokens(self) -> int:
        return sum(count_tokens(turn.text) for turn in self.conversation.turns)

    @property
    def stored_tokens(self) -> int:
        return sum(count_tokens(text) for text in self.texts)

    @property
    def duplicated(self) -> int:
        """Memories whose text another memory of the conversation has too."""
        return len(self.texts) - len(set(self.texts))


class Progress:
    """What a loader tells while it runs: adds accepted, events ended."""

    def __init__(self, accepted: Callable[[int], None], ended: Callable[[int], None]) -> None:
        self.accepted = accepted
        self.ended = ended


def load_all(
    client: Memlane, conversations: Sequence[Conversation], infer: bool, prefix: str, progress: Progress
) -> tuple[list[Loaded], float]:
    """Load conversations side by side, each in its own order; returns them and the seconds until all had ended."""
    started = time.perf_counter()
    with ThreadPoolExecutor(max_workers=min(8, len(conversations))) as pool:
        runs = [pool.submit(_load, client, one, infer, prefix + one.id, progress) for one in conversations]
        loaded = [run.result() for run in runs]
    return loaded, time.perf_counter() - started


def _load(client: Memlane, conversation: Conversation, infer: bool, user_id: str, progress: Progress) -> Loaded:
    loaded = Loaded(conversation, user_id)
    send = _send_session if infer else _send_turns
    sent: list[Sent] = []
    for session in conversation.sessions:
        accepted = send(client, session, user_id)
        progress.accepted(len(accepted))
        sent += accepted
    limit = max(_SHORTEST_WAIT_SECONDS, _LONGEST_SECONDS_PER_EVENT * len(sent) * (10 if infer else 1))
    events = client.wait([one.event_id for one in sent], limit, lambda _: progress.ended(1))
    _account(loaded, sent, events, {memory["id"]: memory for memory in client.memories({"user_id": user_id})})
    return loaded


def _send_turns(client: Memlane, session: Session, user_id: str) -> list[Sent]:
    timestamp = int(session.said_at.timestamp())
    return [
        Sent(
            client.add(
                [{"role": "user", "content": turn.line}],
                user_id=user_id,
                infer=False,
                timestamp=timestamp,
                metadata={"dia_id": turn.dia_id},
            ),
            [turn],
        )
        for turn in session.turns
    ]


def _send_session(client: Memlane, session: Session, user_id: str) -> list[Sent]:
    messages = [{"role": "user", "name": turn.speaker, "content": turn.text} for turn in session.turns]
    event_id = client.add(
        messages, user_id=user_id, timestamp=int(session.said_at.timestamp()), metadata={"session": session.name}
    )
    return [Sent(event_id, session.turns)]


def _account(loaded: Loaded, sent: Sequence[Sent], events: Sequence[Json], stored: dict[str, Json]) -> None:
    sources: defaultdict[str, set[str]] = defaultdict(set)
    for one, event in zip(sent, events, strict=True):
        if event["status"] != "SUCCEEDED":
            loaded.failures.append(f"{one.event_id}: {event.get('error')}")
            continue
        outcomes = event.get("outcomes") or []
        loaded.outcomes.update(outcome["outcome"] for outcome in outcomes)
        loaded.usage.update({key: value for key, value in (event.get("usage") or {}).items() if _is_count(value)})
        for memory_id, indexes in _origins(one, event, stored):
            sources[memory_id] |= {one.turns[index].dia_id for index in indexes if 0 <= index < len(one.turns)}
    loaded.sources = {memory_id: frozenset(turns) for memory_id, turns in sources.items()}
    loaded.texts = [memory["memory"] for memory in stored.values()]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _origins(one: Sent, event: Json, stored: dict[str, Json]) -> list[tuple[str, list[int]]]:
    """Memory id → positions of the messages of this add that it came from."""
    origins: list[tuple[str, list[int]]] = []
    for result in event.get("results") or []:
        origins.append((result["id"], _source_turns(one, result, stored.get(result["id"], {}))))
    if len(one.turns) == 1:  # a repeated line is found under the memory that it repeats
        for outcome in event.get("outcomes") or []:
            if outcome["outcome"] == "duplicate_of" and outcome.get("memory_id"):
                origins.append((outcome["memory_id"], [0]))
    return origins


def _source_turns(one: Sent, result: Json, memory: Json) -> list[int]:
    if len(one.turns) == 1:
        return [0]
    turns = result.get("source_turns", memory.get("source_turns"))
    if turns is None:
        raise BenchError("the server does not tell source_turns of inferred memories; recall cannot be judged")
    return [int(index) for index in turns]
