"""From an API key to its identity; implements core.ports.identity.Authenticator."""

from __future__ import annotations

import threading
import time
from uuid import UUID

from core.domain.errors import MemlaneError
from core.ports.database import Database, DatabaseUnavailable
from core.ports.identity import Identity
from core.ports.runtime import Telemetry
from core.services.issue_key import hash_key
from core.services.side_notes import side_note

REMEMBERED_SECONDS = 1.0  # how long a revoked key may still pass
TOUCH_SECONDS = 60.0
MAX_REMEMBERED = 10_000


class KeyAuthenticator:
    """Looks keys up by their SHA-256. A found key is remembered for a second, an unknown one never."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry
        self._lock = threading.Lock()
        self._known: dict[bytes, tuple[float, Identity]] = {}
        self._touched: dict[bytes, float] = {}

    def remembered(self, key: str) -> Identity | None:
        """An identity that was looked up less than a second ago; never waits."""
        found = self._known.get(hash_key(key))
        if found is None or time.monotonic() - found[0] > REMEMBERED_SECONDS:
            return None
        return found[1]

    def authenticate(self, key: str) -> Identity | None:
        digest = hash_key(key)
        try:
            with self._database.operations() as tx:
                row = tx.projects.lookup_key(digest)
        except DatabaseUnavailable as error:
            raise MemlaneError("database_unavailable") from error
        if row is None:
            return None
        if self._touch_is_due(digest):
            self._touch(row.key_id)
        identity = Identity(row.project_id, row.org_id, row.key_id, frozenset(row.scopes))
        self._remember(digest, identity)
        return identity

    def _touch(self, key_id: UUID) -> None:
        with side_note(self._telemetry, "key_use"), self._database.operations() as tx:
            tx.projects.touch_key(key_id)

    def _touch_is_due(self, digest: bytes) -> bool:
        now = time.monotonic()
        if now - self._touched.get(digest, -TOUCH_SECONDS) < TOUCH_SECONDS:
            return False
        self._touched[digest] = now
        return True

    def _remember(self, digest: bytes, identity: Identity) -> None:
        with self._lock:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
                self._touched.clear()
            self._known[digest] = (time.monotonic(), identity)
