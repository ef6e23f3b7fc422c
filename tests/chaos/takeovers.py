"""How long the lanes of dead workers waited, by the clock of the database.

A trigger notes each lease that passes from one worker to another: when it had run out, since when its lane had an
event due, and when it was taken. What counts is the time in which somebody could have taken it: PostgreSQL and an
ingest worker were there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from sqlalchemy import text

from core.adapters.sql.database import SqlDatabase
from tests.chaos.keeper import Kept
from tests.chaos.storm import Kill

_TRIGGER = """
CREATE TABLE chaos_takeovers (lane_key text, owner text, expired_at timestamptz, due_at timestamptz,
                              taken_at timestamptz, heir text);
GRANT SELECT ON chaos_takeovers TO memlane_ops;
CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO chaos_takeovers VALUES (OLD.lane_key, OLD.owner, OLD.expires_at, (
    SELECT e.due_at FROM events e WHERE e.project_id = OLD.project_id AND e.lane_key = OLD.lane_key
      AND e.state IN ('accepted', 'claimed', 'retrying', 'committed') ORDER BY e.seq LIMIT 1),
    NEW.taken_at, NEW.owner);
  RETURN NULL;
END $$;
CREATE TRIGGER chaos_takeover AFTER UPDATE OF fence ON leases FOR EACH ROW
  WHEN (OLD.owner <> NEW.owner) EXECUTE FUNCTION chaos_note();
"""
_NOTED = text("""
SELECT owner, heir, extract(epoch FROM expired_at)::float8 AS expired, extract(epoch FROM due_at)::float8 AS due,
  extract(epoch FROM taken_at)::float8 AS taken FROM chaos_takeovers ORDER BY taken_at
""")
Spell = tuple[float, float]


@dataclass(frozen=True)
class Takeover:
    """Seconds. `waited` is from the lease's end, as far as anybody was there; `since_death` from the kill, in all."""

    waited: float
    in_all: float
    since_death: float


def note_takeovers(url: str) -> None:
    """`url` is that of the database's owner."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(_TRIGGER)


def takeovers(database: SqlDatabase, deaths: Sequence[Kill], kept: Sequence[Kept]) -> list[Takeover]:
    """One for each lane taken over from a worker of `deaths` (killed, or frozen for longer than its lease)."""
    died = {death.owner: death.at for death in deaths}
    postgres = [spell for part in kept if part.kind == "PostgreSQL" for spell in part.spells]
    workers = union([spell for part in kept if part.kind == "ingest worker" for spell in part.spells])
    there = both(workers, postgres)
    found = []
    with database.operations() as tx:
        rows = list(tx.connection.execute(_NOTED))
    for row in rows:
        if row.owner not in died or row.due is None:
            continue
        since = max(row.expired, row.due)
        waited = overlap(there, (since, row.taken))
        found.append(Takeover(waited, max(0.0, row.taken - since), max(0.0, row.taken - died[row.owner])))
    return found


def union(spells: Sequence[Spell]) -> list[Spell]:
    """The same time, without overlaps, in order."""
    joined: list[Spell] = []
    for start, end in sorted(spells):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def both(some: Sequence[Spell], others: Sequence[Spell]) -> list[Spell]:
    """The time that lies in spells of either list."""
    pairs = ((max(a, c), min(b, d)) for a, b in some for c, d in others)
    return union([(start, end) for start, end in pairs if start < end])


def overlap(spells: Sequence[Spell], span: Spell) -> float:
    return sum(max(0.0, min(end, span[1]) - max(start, span[0])) for start, end in spells)
