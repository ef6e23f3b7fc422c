"""The peer's answers are kept between runs, and only where nothing they follow from has changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy.bench import peer
from deploy.bench.peer import HYBRID, PLAIN, PeerArm, PeerJob, PeerMemory, PeerQuestion, run_peer

_JOB = PeerJob([PeerMemory("ann", "Ann skis", "a")], [PeerQuestion("ann", "who skis?")], 50, 0.0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[PeerJob]:
    jobs: list[PeerJob] = []

    def answered(job: PeerJob) -> dict[str, Any]:
        jobs.append(job)
        hits = [{"key": one.key, "text": one.text} for one in job.memories]
        hybrid = [{"ms": 2.0, "results": hits} for _ in job.questions]
        plain = [{"ms": 1.0, "results": []} for _ in job.questions]
        return {"load_seconds": 1.5, "word_list": "its own", "arms": {"hybrid": hybrid, "plain": plain}}

    monkeypatch.setattr(peer, "_answered", answered)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return jobs


def test_the_same_job_is_answered_once_where_answers_are_kept(asked: list[PeerJob]) -> None:
    first, again = run_peer(_JOB, kept=True), run_peer(_JOB, kept=True)
    assert first == again
    assert first.arms[HYBRID] == PeerArm([2.0], [[("a", "Ann skis")]])
    assert first.arms[PLAIN] == PeerArm([1.0], [[]])
    assert first.measured.endswith("UTC")
    assert len(asked) == 1


def test_another_job_is_asked_and_so_is_every_job_where_times_matter(asked: list[PeerJob]) -> None:
    run_peer(_JOB, kept=True)
    run_peer(replace(_JOB, top_k=20), kept=True)
    run_peer(_JOB)
    run_peer(_JOB)
    assert len(asked) == 4
