"""Random kill -9 of every process under load: what clients were told holds in the end.

    MEMLANE_CHAOS_KILLS=1000 MEMLANE_CHAOS_TABLE=chaos.md python -m pytest -m long tests/chaos/test_storm.py

MEMLANE_CHAOS_SEED repeats a run's plan, as far as the machine's own timing allows.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.chaos.check import assert_consistent, assert_delivered
from tests.chaos.cluster import LEASE_SECONDS
from tests.chaos.history import Findings, compare, read_truth
from tests.chaos.report import Run, markdown
from tests.chaos.storm import SHARES
from tests.chaos.takeovers import Takeover, takeovers
from tests.chaos.world import World, world

pytestmark = pytest.mark.chaos
SHORT, LONG = 20, 1000
_SECONDS_A_KILL = 3.5  # a thousand within an hour; a quiet machine takes a third of it
_MOST_CRASHES = text("SELECT coalesce(max(crashes), 0) FROM events")
_ALL = text("SELECT count(*) FROM events")


@pytest.fixture
def say(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Tells of progress at once, also where output is captured."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    reporter = pytestconfig.pluginmanager.getplugin("terminalreporter")

    def line(words: str) -> None:
        with capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            reporter.write_line(words, flush=True)

    return line


@pytest.mark.parametrize(
    "kills",
    [SHORT, pytest.param(int(os.environ.get("MEMLANE_CHAOS_KILLS", LONG)), marks=pytest.mark.long, id="many")],
)
def test_random_kills_lose_double_invert_and_invent_nothing(kills: int, say: Callable[[str], None]) -> None:
    seed = int(os.environ.get("MEMLANE_CHAOS_SEED") or secrets.randbelow(2**31))
    say(f"chaos: {kills} kills with MEMLANE_CHAOS_SEED={seed}")
    with world(seed, say) as running:
        started = time.monotonic()
        running.storm.run(kills, 60 + kills * _SECONDS_A_KILL)
        seconds = time.monotonic() - started
        running.stop_clients()
        running.settle()
        findings = compare(running.diary, read_truth(running.place.database))
        taken = takeovers(running.place.database, running.storm.kills + running.storm.freezes, _closed(running))
        table = markdown(_run(running, seed, seconds, findings, taken))
        say(table)
        if (path := os.environ.get("MEMLANE_CHAOS_TABLE")) and kills != SHORT:
            Path(path).write_text(table)
        assert findings == Findings(), findings.some()
        assert running.diary.violations == []
        assert_consistent(running.place.database, running.index, "memlane_1")
        assert_delivered(running.place.database, running.receiver.ids)
        if kills != SHORT:  # a short run shares its machine with other tests, and their load is no fault of a lane
            assert max(one.waited for one in taken) <= LEASE_SECONDS + 2
        assert set(running.storm.counts()) == {kind for kind, count in running.storm.counts().items() if count}
        assert all(kill.in_flight for kill in running.storm.kills)


def _closed(running: World) -> list[object]:
    running.keeper.stop()
    return running.keeper.kept


def _run(running: World, seed: int, seconds: float, findings: Findings, taken: list[Takeover]) -> Run:
    ended: dict[str, int] = dict.fromkeys(SHARES, 0)
    for kept in running.keeper.kept:
        ended[kept.kind] += kept.ended_itself
    more = {
        "events in all": running.place.scalar(_ALL),
        "webhook deliveries received": sum(running.receiver.ids.values()),
        "of them more than once": sum(count > 1 for count in running.receiver.ids.values()),
        "most crashes counted on one event": running.place.scalar(_MOST_CRASHES),
        "broken promises seen by clients": len(running.diary.violations),
    }
    storm = running.storm
    return Run(seed, seconds, storm.kills, len(storm.freezes), ended, taken, running.diary.counts, findings, more)
