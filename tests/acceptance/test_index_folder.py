"""What the stack's index keeps on disk is a shard of Qdrant Edge, and holds what was acknowledged."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import qdrant_edge as edge

from tests.acceptance.account import Account
from tests.conftest import Stack


@contextmanager
def standing_still(stack: Stack) -> Iterator[None]:
    """The index endpoint stopped for a moment: its folder is then as a crash would leave it."""
    endpoint = psutil.Process(stack.state.parts["endpoint"].pid)
    endpoint.suspend()
    try:
        yield
    finally:
        endpoint.resume()


def test_qdrant_edge_opens_the_stacks_collection_and_finds_an_acknowledged_memory_in_it(
    stack: Stack, plain: Account, tmp_path: Path
) -> None:
    [memory_id] = plain.verbatim("I ski in Chamonix", user_id="u")
    with stack.database.operations() as tx:
        name = tx.ops.collections()["active"].name
    with standing_still(stack):
        folder = shutil.copytree(stack.home / "qdrant" / "collections" / name, tmp_path / name)
    shard = edge.EdgeShard.load(str(folder))
    [point] = shard.retrieve([memory_id], True, False)
    assert str(point.id) == memory_id
    assert (point.payload["project"], point.payload["user_id"]) == (str(plain.project.id), "u")
    shard.close()
