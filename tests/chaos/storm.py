"""Kills and freezes at random, from a seed: which process, when, and how much was in flight then."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import text

from core.adapters.sql.database import SqlDatabase
from core.ports.database import DatabaseUnavailable
from tests.chaos.keeper import Keeper, Kept

# Of all kills; the workers are two processes of one kind.
SHARES = {
    "ingest worker": 0.60,
    "PostgreSQL": 0.105,
    "index endpoint": 0.105,
    "API": 0.08,
    "Valkey": 0.05,
    "webhooks worker": 0.04,
    "beat": 0.02,
}
_FREEZE_EVERY = 15  # kills
_LONGEST_FREEZE = 5.0  # seconds; the lease is two
_MEAN_GAP = 0.5  # seconds between two kills
_AHEAD = 3  # kills of the plan that may go before others whose victim is not ready; so many may be down at once
_MEAN_LIFE = 1.5  # seconds that a process is let work once it is ready
_OPEN = text("SELECT count(*) FROM events WHERE state NOT IN ('projected', 'failed')")
_HELD = text("""
SELECT count(*) FROM events e JOIN leases l USING (project_id, lane_key)
WHERE e.state IN ('claimed', 'committed') AND e.fence = l.fence AND l.owner = :owner
""")


@dataclass(frozen=True)
class Kill:
    kind: str
    in_flight: int
    at: float  # seconds since the epoch: the clock of PostgreSQL, which runs on this machine
    owner: str | None = None  # as the leases name the worker


def plan(kills: int, chance: random.Random) -> list[str]:
    """So many kinds in random order, each with its share and at least one."""
    counts = {kind: max(1, int(kills * share)) for kind, share in SHARES.items()}
    counts["ingest worker"] += kills - sum(counts.values())
    order = [kind for kind, count in counts.items() for _ in range(count)]
    chance.shuffle(order)
    return order


def owner_of(pid: int) -> str:
    return f"ingest@{socket.gethostname()}:{pid}"


@dataclass
class Storm:
    """Runs a plan. A kill needs a victim that is ready, and an event in flight: the victim's own for a worker."""

    keeper: Keeper
    database: SqlDatabase
    seed: int
    say: Callable[[str], None]
    kills: list[Kill] = field(default_factory=list)
    freezes: list[Kill] = field(default_factory=list)
    open_events: int = 0
    _thaws: list[threading.Timer] = field(default_factory=list)

    def run(self, count: int, seconds: float) -> None:
        """Raises AssertionError when the plan is not done within `seconds`."""
        chance = random.Random(self.seed)
        left, started = plan(count, chance), time.monotonic()
        pause = threading.Event()
        while left:
            assert time.monotonic() - started < seconds, f"{len(left)} kills left after {seconds:.0f} s: {left[:9]}"
            chosen = self._victim(left, chance)
            if chosen is None:
                pause.wait(0.02)
                continue
            left.remove(chosen.kind)
            self._tell(count, time.monotonic() - started)
            pause.wait(min(chance.expovariate(1 / _MEAN_GAP), 3 * _MEAN_GAP))
        for thaw in self._thaws:
            thaw.join()

    def _victim(self, left: Sequence[str], chance: random.Random) -> Kept | None:
        """Kills the first of the plan's next few that can be killed now, and returns it."""
        for kind in dict.fromkeys(left[:_AHEAD]):
            candidates = [kept for kept in self.keeper.kept if kept.kind == kind and self.keeper.may_end(kept)]
            chance.shuffle(candidates)
            for kept in candidates:
                if self._strike(kept, chance):
                    return kept
        return None

    def _strike(self, kept: Kept, chance: random.Random) -> bool:
        in_flight = self._in_flight(kept)
        if not in_flight:
            return False
        freezing = kept.kind == "ingest worker" and len(self.kills) // _FREEZE_EVERY > len(self.freezes)
        owner = owner_of(kept.part.pid) if kept.kind == "ingest worker" else None
        if freezing:
            self.freezes.append(Kill(kept.kind, in_flight, time.time(), owner))
            self._freeze(kept, chance.uniform(0.5, _LONGEST_FREEZE))
            return False
        if not self.keeper.kill(kept, chance.expovariate(1 / _MEAN_LIFE)):
            return False
        self.kills.append(Kill(kept.kind, in_flight, time.time(), owner))
        return True

    def _freeze(self, kept: Kept, seconds: float) -> None:
        pid = kept.part.pid
        self.keeper.freeze(kept)
        thaw = threading.Timer(seconds, self.keeper.thaw, (kept, pid))
        thaw.start()
        self._thaws.append(thaw)

    def _in_flight(self, kept: Kept) -> int:
        """Nothing ends while PostgreSQL is away: then what was open before is open still."""
        try:
            with self.database.operations() as tx:
                self.open_events = int(tx.connection.execute(_OPEN).scalar_one())
                if kept.kind != "ingest worker":
                    return self.open_events
                return int(tx.connection.execute(_HELD, {"owner": owner_of(kept.part.pid)}).scalar_one())
        except DatabaseUnavailable:
            return 0 if kept.kind == "ingest worker" else self.open_events

    def _tell(self, count: int, seconds: float) -> None:
        if len(self.kills) % 50 == 0 or len(self.kills) == count:
            by_kind = ", ".join(f"{kind} {number}" for kind, number in self.counts().items())
            self.say(f"{len(self.kills)} of {count} kills in {seconds:.0f} s ({by_kind}); {self.open_events} open")

    def counts(self) -> Mapping[str, int]:
        return {kind: sum(kill.kind == kind for kill in self.kills) for kind in SHARES}
