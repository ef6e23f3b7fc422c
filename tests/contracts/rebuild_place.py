"""A pipeline whose index is rebuilt, and what its points are compared by."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.ports.index import IndexPoint
from core.services.points import build_points
from core.services.project import read_points
from core.services.reindex import Progress, Rebuild
from core.services.search import SearchQuery, search
from tests.contracts.index_places import Endpoint
from tests.doubles.fast import FastEmbedder
from tests.doubles.pipeline import Pipeline

BATCH = 16
WORDS = ["tea", "Lyon", "sailing", "orchids", "chess", "Porto", "violin", "marathon"]


class OtherEmbedder(FastEmbedder):
    """Another model, of another size."""

    name = "other"

    def __init__(self, dims: int = 48) -> None:
        super().__init__()
        self.dims = dims
        self.passages = 0

    def embed_passages(self, texts: Any) -> Any:
        self.passages += len(texts)
        return super().embed_passages(texts)


@dataclass
class Place:
    line: Pipeline
    prefix: str
    endpoint: Endpoint
    url: str
    told: list[Progress] = field(default_factory=list)

    def rebuild(self, **more: Any) -> Rebuild:
        parts = Rebuild(self.line.database, self.line.runtime.index, self.prefix, tell=self.told.append)
        return replace(parts, **{"grace": 0.0, "batch": BATCH, **more})

    def adds(self, count: int, user: str = "ann") -> None:
        """Verbatim turns of one conversation, so that neighbours give each other context."""
        for start in range(0, count, 20):
            turns = [f"{user} {n}: I like {WORDS[n % 8]} number {n}" for n in range(start, min(start + 20, count))]
            self.line.add([{"role": "user", "content": turn} for turn in turns], user=user, infer=False)
        self.line.drain_all()

    def points(self, collection: str) -> dict[str, Any]:
        """id → payload and vectors, as the index gives them."""
        found: dict[str, Any] = {}
        body: dict[str, Any] = {"limit": 500, "with_payload": True, "with_vector": True}
        with self.endpoint.http() as http:
            for _ in range(50):
                path = f"/collections/{collection}/points/scroll"
                answer = http.post(path, json=body).raise_for_status().json()["result"]
                found |= {p["id"]: _comparable(p["payload"], p["vector"]) for p in answer["points"]}
                if answer["next_page_offset"] is None:
                    return found
                body["offset"] = answer["next_page_offset"]
        raise AssertionError("no end of points")

    def truth(self) -> dict[str, Any]:
        """The same, made of the rows alone."""
        memories = [row.id for row in self.line.memories("state <> 'deleted'")]
        with self.line.database.transaction(self.line.project) as tx:
            rows, around = read_points(tx, self.line.project, memories)
        shown = [memory for memory in rows if memory.state != "deleted"]
        return {str(point.id): _of_point(point) for point in build_points(shown, around)}

    def active(self) -> str:
        with self.line.database.operations() as tx:
            return str(tx.ops.collections()["active"].name)

    def answers(self) -> list[Any]:
        found = []
        for word in WORDS:
            query = SearchQuery(self.line.project, word, {"user_id": "ann"}, self.line.runtime.clock.now())
            found.append([(hit.memory.id, round(hit.score, 5)) for hit in search(self.line.runtime, query).hits])
        return found


def _comparable(payload: dict[str, Any], vectors: dict[str, Any]) -> Any:
    sparse = {
        name: dict(zip(vector["indices"], np.round(vector["values"], 4).tolist(), strict=True))
        for name, vector in vectors.items()
        if name != "dense" and vector["indices"]
    }
    return payload, np.round(vectors["dense"], 4).tolist(), sparse


def _of_point(point: IndexPoint) -> Any:
    named = {"bm25": point.bm25, "bm25_ctx": point.bm25_ctx, "entity": point.entity}
    given = {name: {"indices": v.indices, "values": v.values} for name, v in named.items() if v is not None}
    return _comparable(dict(point.payload), {"dense": point.dense, **given})
