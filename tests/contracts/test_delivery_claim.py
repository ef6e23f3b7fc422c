"""Choosing the next deliveries, when very many wait."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.adapters.sql import webhook_store
from core.domain.ids import new_id
from tests.doubles.pipeline import Pipeline, make_pipeline

_WEBHOOK = text("""
INSERT INTO webhooks (id, project_id, name, url, event_types, secret, created_at, updated_at)
VALUES (:id, :project, 'hook', 'https://example.com', '{memory_add}', '', now(), now())
""")
_WAITING = text("""
INSERT INTO deliveries (id, project_id, webhook_id, event_type, state, due_at, created_at)
SELECT gen_random_uuid(), :project, :webhook, 'memory_add', 'waiting', now() - n * interval '1 ms', now()
FROM generate_series(1, :count) n
""")


@pytest.fixture
def line(own_place: tuple[str, QdrantIndex, str]) -> Iterator[Pipeline]:
    pipeline = make_pipeline(*own_place)
    yield pipeline
    with pipeline.database.operations() as tx:
        tx.connection.execute(text("DELETE FROM webhooks WHERE project_id = :p"), {"p": pipeline.project})
    pipeline.database.close()


def test_a_claim_reads_a_backlog_once_and_not_for_each_row_of_it(line: Pipeline) -> None:
    """Pages read, not seconds: 800 waiting deliveries cost no 800 readings of them."""
    webhook = new_id()
    with line.database.operations() as tx:
        tx.connection.execute(_WEBHOOK, {"id": webhook, "project": line.project})
        tx.connection.execute(_WAITING, {"project": line.project, "webhook": webhook, "count": 800})
    with line.database.operations() as tx:
        params = {"limit": 16, "per_endpoint": 4, "seconds": 30.0}
        explained = text(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {webhook_store._CLAIM.text}")
        (plan,) = tx.connection.execute(explained, params).scalar_one()
    assert plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"] < 8_000
    with line.database.operations() as tx:
        assert tx.webhooks.claim(16, 4, 30.0) == []  # four are in flight to this endpoint, as many as may be
