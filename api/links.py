"""Links of the OpenAPI document: which answer names what another request needs (OpenAPI 3.1, Link Object)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_EVENT = {"event_id": "$response.body#/event_id"}
_MEMORY = {"id": "$response.body#/results/0/id"}
_HOOK = {"webhook_id": "$response.body#/webhook_id"}
_PROJECT = {"project_id": "$response.body#/project_id"}
_OWN = {"org_id": "$response.body#/org_id", **_PROJECT}
_ENTITY = {"entity_type": "$response.body#/results/0/type", "name": "$response.body#/results/0/name"}


@dataclass(frozen=True)
class Link:
    """From the successful answer of one operation to others; `parameters` are runtime expressions."""

    source: str
    targets: tuple[str, ...]
    parameters: dict[str, str]
    status: str = "200"


LINKS = (
    Link("add_memories", ("get_event",), _EVENT),
    Link("delete_memories", ("get_event",), _EVENT),
    Link("remove_entity", ("get_event",), _EVENT),
    Link("get_events", ("get_event", "post_retry"), {"event_id": "$response.body#/results/0/id"}),
    Link("get_event", ("get_memory",), _MEMORY),
    Link("get_memories", ("get_memory", "get_history", "put_memory", "post_revert", "remove_memory"), _MEMORY),
    Link("search_memories", ("get_memory", "put_memory", "remove_memory"), _MEMORY),
    Link("get_entities", ("get_entity", "get_memories_of_entity", "remove_entity"), _ENTITY),
    Link("ping", ("get_project", "patch_project"), _OWN),
    Link("ping", ("get_webhooks", "post_webhook"), _PROJECT),
    Link("post_webhook", ("put_webhook", "delete_webhook", "post_rotation", "get_deliveries"), _HOOK, "201"),
    Link("get_deliveries", ("get_delivery", "post_resend"), {"delivery_id": "$response.body#/results/0/id"}),
)


def add_links(document: dict[str, Any]) -> None:
    """Writes LINKS into the responses that they start from."""
    operations = {operation["operationId"]: operation for operation in _operations(document)}
    for link in LINKS:
        found = operations[link.source]["responses"][link.status].setdefault("links", {})
        for target in link.targets:
            found[target] = {"operationId": operations[target]["operationId"], "parameters": link.parameters}


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in document["paths"].values():
        yield from item.values()
