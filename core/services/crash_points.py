"""Named places at which a test can end or freeze the process: MEMLANE_CRASH_AT=name:n[:stop]."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter

EXIT_CODE = 137
NAMES = (
    "accept",  # before the accepting transaction commits
    "accepted",  # after it committed, before the answer
    "begin",  # the event is claimed, its work has not started
    "extract",  # after the model call
    "embed",  # after the embedding call
    "commit",  # in the commit transaction: the fence is checked, everything is written
    "committed",  # after that transaction
    "project",  # in the projecting transaction, before the index is written
    "projected",  # in the same, after it was written
    "reindex_copied",  # a batch of points is copied and noted
    "reindex_switch",  # in the transaction that makes the new collection the active one
    "reindex_switched",  # after that transaction, the old collection is still there
)


class CrashPoints:
    """Ends the process, as SIGKILL would, the n-th time a named point is reached; with `stop`, freezes it.

    Without a rule it does nothing. Raises ValueError for a rule that names no point.
    """

    def __init__(self, rule: str | None = None) -> None:
        name, number, action = (*(rule or "").split(":"), "", "")[:3]
        if rule and name not in NAMES:
            raise ValueError(f"MEMLANE_CRASH_AT names no crash point: {name!r}; known: {', '.join(NAMES)}")
        self._name, self._number, self._action = name, int(number or 1), action
        self._reached: Counter[str] = Counter()
        self._lock = threading.Lock()

    def reach(self, name: str) -> None:
        if name != self._name:
            return
        with self._lock:
            self._reached[name] += 1
            due = self._reached[name] == self._number
        if due and self._action == "stop":
            # To this thread: sent to the process, the signal may be another's, and this one gets past the point.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
        elif due:
            os._exit(EXIT_CODE)
