"""A chat model that says what the user said: predictable answers in the extraction schema, over a real socket."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.doubles.model_server import Reply, Request, memories, reply

_TURN = re.compile(r'^\{"turn": .*\}$', re.MULTILINE)


def echo(request: Request) -> Reply:
    """One memory for each new turn, word for word; its categories are those allowed ones whose name it mentions."""
    allowed = _allowed(request.body)
    turns = [json.loads(line) for line in _TURN.findall(request.body["messages"][-1]["content"])]
    return memories(*(_item(turn, allowed) for turn in turns))


def categorised(request: Request) -> Reply | None:
    """The answer to a request for the categories of one text: those allowed ones whose name it mentions."""
    if '"title": "categories"' not in json.dumps(request.body):
        return None
    said = request.body["messages"][-1]["content"].casefold()
    return reply({"categories": [name for name in _allowed(request.body) if name.casefold() in said]})


def _item(turn: dict[str, Any], allowed: list[str]) -> dict[str, Any]:
    said = turn["text"].casefold()
    named = [name for name in allowed if name.casefold() in said]
    return {"text": turn["text"], "attributed_to": turn["role"], "turns": [turn["turn"]], "categories": named}


def _allowed(body: dict[str, Any]) -> list[str]:
    """The categories that the request's own JSON schema allows."""
    found = re.search(r'"categories": \{"type": "array", "items": \{"enum": (\[[^\]]*\])', json.dumps(body))
    return json.loads(found.group(1)) if found else []
