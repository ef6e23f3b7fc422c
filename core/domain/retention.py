"""How long ended things are kept: days, of which a project may name its own."""

from __future__ import annotations

from collections.abc import Mapping

MOST_DAYS = 3_650

# What a project's setting `retention` may name: kind → days unless it says otherwise.
OF_PROJECTS: Mapping[str, int] = {
    "payloads": 7,  # what was sent, of ended events
    "events": 90,  # ended events
    "deliveries": 30,  # ended deliveries of webhooks, with their attempts
    "deleted_memories": 30,  # deleted memories, with their history
}
# What is the server's own, in days too.
OF_SERVER: Mapping[str, float] = {"idempotency_keys": 1, "heartbeats": 1, "leases": 1}
