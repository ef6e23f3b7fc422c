"""Requests that change points, and payload indexes. Each is checked whole before the engine sees any of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import qdrant_edge as edge

from deploy.local.endpoint.collections import Collection
from deploy.local.endpoint.conditions import as_filter
from deploy.local.endpoint.errors import engine_errors, wrong_input

_Update = edge.UpdateOperation
_SCHEMAS: dict[str, Any] = {
    "keyword": edge.KeywordIndexParams,
    "integer": edge.IntegerIndexParams,
    "float": edge.FloatIndexParams,
    "bool": edge.BoolIndexParams,
    "datetime": edge.DatetimeIndexParams,
    "uuid": edge.UuidIndexParams,
}


def upsert(collection: Collection, body: dict[str, Any]) -> Any:
    """Replace whole points: `{"points": [...]}`, or Qdrant's columns `{"batch": {ids, vectors, payloads}}`."""
    rows = _rows(body["batch"]) if "batch" in body else _required_list(body, "points")
    named = collection.schema.named
    return _Update.upsert_points(
        [edge.Point(row["id"], named(row.get("vector")), row.get("payload") or {}) for row in rows]
    )


def _rows(batch: dict[str, Any]) -> list[dict[str, Any]]:
    ids, columns, payloads = batch["ids"], batch["vectors"], batch.get("payloads") or [None] * len(batch["ids"])
    if not isinstance(columns, dict) or any(len(column) != len(ids) for column in (payloads, *columns.values())):
        raise wrong_input("a batch's ids, vectors and payloads must be of one length")
    return [
        {"id": id_, "vector": {name: column[at] for name, column in columns.items()}, "payload": payloads[at]}
        for at, id_ in enumerate(ids)
    ]


def update_vectors(collection: Collection, body: dict[str, Any]) -> Any:
    named = collection.schema.named
    return _Update.update_vectors(
        [edge.PointVectors(row["id"], named(row.get("vector"))) for row in _required_list(body, "points")]
    )


def delete(collection: Collection, body: dict[str, Any]) -> Any:
    return _selected(body, _Update.delete_points, _Update.delete_points_by_filter)


def delete_vectors(collection: Collection, body: dict[str, Any]) -> Any:
    names = body.get("vector")
    return _selected(body, _Update.delete_vectors, _Update.delete_vectors_by_filter, names)


def set_payload(collection: Collection, body: dict[str, Any]) -> Any:
    return _selected(body, _Update.set_payload, _Update.set_payload_by_filter, body["payload"], body.get("key"))


def overwrite_payload(collection: Collection, body: dict[str, Any]) -> Any:
    return _selected(body, _Update.overwrite_payload, _Update.overwrite_payload_by_filter, body["payload"])


def delete_payload(collection: Collection, body: dict[str, Any]) -> Any:
    return _selected(body, _Update.delete_payload, _Update.delete_payload_by_filter, _required_list(body, "keys"))


def clear_payload(collection: Collection, body: dict[str, Any]) -> Any:
    return _selected(body, _Update.clear_payload, _Update.clear_payload_by_filter)


def create_index(collection: Collection, body: dict[str, Any]) -> Any:
    """`field_schema` is a type name, or an object with `type` and its parameters."""
    schema = body.get("field_schema")
    params = {"type": schema} if isinstance(schema, str) else dict(schema or {})
    kind = params.pop("type", None)
    if kind not in _SCHEMAS:
        raise wrong_input(f"field_schema: one of {sorted(_SCHEMAS)}")
    return _Update.create_field_index(body["field_name"], _SCHEMAS[kind](**params))


def _selected(body: dict[str, Any], by_ids: Callable[..., Any], by_filter: Callable[..., Any], *more: Any) -> Any:
    """The points of an operation are named by `points` or by `filter`; neither must never mean all."""
    if body.get("points") is not None:
        return by_ids(_required_list(body, "points"), *more)
    if body.get("filter") is not None:
        return by_filter(as_filter(body["filter"]), *more)
    raise wrong_input("`points` or `filter` is required")


def _required_list(body: dict[str, Any], key: str) -> list[Any]:
    value = body.get(key)
    if not isinstance(value, list):
        raise wrong_input(f"`{key}` must be a list")
    return value


Write = Callable[[Collection, dict[str, Any]], Any]
_BATCHED: dict[str, Write] = {
    "upsert": upsert,
    "delete": delete,
    "set_payload": set_payload,
    "overwrite_payload": overwrite_payload,
    "delete_payload": delete_payload,
    "clear_payload": clear_payload,
    "update_vectors": update_vectors,
    "delete_vectors": delete_vectors,
}


def apply(collection: Collection, write: Write, body: dict[str, Any]) -> dict[str, Any]:
    """Check, apply and acknowledge one write."""
    with engine_errors():
        operation = _checked(write, collection, body)
    return _completed(collection.update(operation, len(body.get("points") or [1])))


def apply_batch(collection: Collection, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Several writes in order; all are checked before the first is applied."""
    with engine_errors():
        operations = [_batched(collection, raw) for raw in _required_list(body, "operations")]
    return [_completed(collection.update(operation)) for operation in operations]


def _batched(collection: Collection, raw: Any) -> Any:
    if not isinstance(raw, dict) or len(raw) != 1 or not raw.keys() <= _BATCHED.keys():
        raise wrong_input(f"an operation has one of the keys {sorted(_BATCHED)}")
    ((name, body),) = raw.items()
    return _checked(_BATCHED[name], collection, body)


def _checked(write: Write, collection: Collection, body: dict[str, Any]) -> Any:
    if body.get("update_filter") is not None or body.get("update_mode") not in (None, "upsert"):
        raise wrong_input("conditional updates are not supported by the local endpoint")
    try:
        return write(collection, body)
    except KeyError as error:
        raise wrong_input(f"{error} is required") from error


def _completed(number: int) -> dict[str, Any]:
    return {"operation_id": number, "status": "completed"}


def drop_index(collection: Collection, name: str) -> dict[str, Any]:
    return _completed(collection.update(_Update.delete_field_index(name)))
