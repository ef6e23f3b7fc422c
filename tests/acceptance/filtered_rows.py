"""The rows that the documented filters are asked about, stored through the official client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.adapters.sql.database import SqlDatabase
from core.domain.filter_eval import evaluate
from core.domain.filter_parse import parse
from core.domain.filter_scope import scoped
from core.domain.memory import Memory
from tests.acceptance.account import Account

JULY = 1722463200  # 2024-07-31 22:00 UTC

# name → (text, ids, the add's other keys); verbatim, so that a row may carry a user and an agent
VERBATIM: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "u": ("Ulla sails", {"user_id": "u"}, {}),
    "u+run": ("Ulla paints", {"user_id": "u", "run_id": "g"}, {}),
    "u+app": ("Ulla cooks", {"user_id": "u", "app_id": "c"}, {}),
    "u+run+app": ("Ulla knits", {"user_id": "u", "run_id": "g", "app_id": "c"}, {}),
    "u+bot": ("Ulla asks", {"user_id": "u", "agent_id": "bot"}, {}),
    "v": ("Vera sings", {"user_id": "v"}, {}),
    "v+run": ("Vera rows", {"user_id": "v", "run_id": "g"}, {}),
    "bot": ("The bot answers", {"agent_id": "bot"}, {}),
    "bot+run": ("The bot waits", {"agent_id": "bot", "run_id": "g"}, {}),
    "old+app": ("The old bot sleeps", {"agent_id": "old", "app_id": "c"}, {}),
    "cam+chef": ("Cam tastes", {"user_id": "cam", "agent_id": "chef"}, {}),
    "w-none": (
        "Olga repairs old clocks",
        {"user_id": "w"},
        {"metadata": {"source": "chat", "type": "episodic", "n": 1, "on": True, "tags": ["x"]}},
    ),
    "w-july": ("Rita swims in the lake", {"user_id": "w"}, {"timestamp": JULY}),
}
# inferred, and so with categories: those of the project that a text mentions
INFERRED: dict[str, tuple[str, dict[str, Any]]] = {
    "w-finance": ("My finance adviser wants the Invoice 17", {}),
    "w-health": ("A late invoice came from my health insurer", {}),
    "w-spam": ("The spam folder holds a letter from Bo", {"metadata": {"source": "email", "type": "semantic"}}),
}
SPLIT = {"s": "My boat lies in Porto", "t": "I have booked a berth in Lagos"}  # one add, user s and agent t
CATEGORIES = [{"finance": "money"}, {"health": "health"}, {"spam": "unwanted"}, {"test": "tests"}]
EVERYBODY = {*VERBATIM, *INFERRED, *SPLIT}


@dataclass(frozen=True)
class Rows:
    """The stored rows by name."""

    memories: dict[str, Memory]

    def id_of(self, name: str) -> str:
        return str(self.memories[name].id)

    def names(self, found: list[dict[str, Any]]) -> set[str]:
        name_of = {str(memory.id): name for name, memory in self.memories.items()}
        return {name_of[row["id"]] for row in found}

    def judged(self, raw: dict[str, Any], *, strict: bool) -> set[str]:
        """The rows that the plain-Python evaluator selects."""
        node = scoped(parse(raw), strict)
        return {name for name, memory in self.memories.items() if evaluate(node, memory)}


def store(owner: Account, database: SqlDatabase) -> Rows:
    owner.client.project.update(custom_categories=CATEGORIES)
    accepted = [owner.client.add(text, infer=False, **ids, **more) for text, ids, more in VERBATIM.values()]
    accepted += [owner.client.add(text, user_id="w", **more) for text, more in INFERRED.values()]
    dialogue = [{"role": "user", "content": SPLIT["s"]}, {"role": "assistant", "content": SPLIT["t"]}]
    accepted.append(owner.client.add(dialogue, user_id="s", agent_id="t"))
    id_of = {result["memory"]: UUID(result["id"]) for one in accepted for result in owner.ended(one)["results"]}
    with database.transaction(owner.project.id) as tx:
        stored = {memory.id: memory for memory in tx.changes.read_many(owner.project.id, list(id_of.values()))}
    texts = {name: text for name, (text, *_) in [*VERBATIM.items(), *INFERRED.items()]} | SPLIT
    return Rows({name: stored[id_of[text]] for name, text in texts.items()})
