"""Webhooks: event types, signatures and the schedule of deliveries. Pure.

Signatures follow Standard Webhooks 1.0 (symmetric, `v1`): HMAC-SHA256 over `id.timestamp.body`, base64.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32
ROTATION_SECONDS = 24 * 3600
DISABLE_AFTER_SECONDS = 5 * 24 * 3600
DEFAULT_SCHEDULE = (0, 5, 300, 1800, 7200, 18000, 36000, 36000)
TIMEOUT_SECONDS = 15.0
IN_FLIGHT_PER_ENDPOINT = 4
REPLY_BYTES = 16 * 1024

MEMORY_TYPES = ("memory_add", "memory_update", "memory_delete", "memory_categorize")
EVENT_TYPES = ("event_succeeded", "event_failed")
JOB_TYPES = (  # named by the platform, accepted in a subscription, never sent: there are no ingest jobs here
    "ingest_job_completed",
    "ingest_job_partially_completed",
    "ingest_job_failed",
    "ingest_job_cancelled",
)
ALL_TYPES = MEMORY_TYPES + EVENT_TYPES + JOB_TYPES

# What happens to a memory → what is told. A kind of change without a row here fails a test.
EMITTED = {
    "ADD": "memory_add",
    "UPDATE": "memory_update",
    "DELETE": "memory_delete",
    "CATEGORIZE": "memory_categorize",
}


@dataclass(frozen=True)
class Attempt:
    """What an endpoint answered: `status` is None when no answer came; `retry_after` in seconds."""

    status: int | None
    retry_after: float | None = None

    @property
    def delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """410: the receiver asks to be left alone."""
        return self.status == 410


def new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def secret_bytes(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX))


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """One `v1,<base64>` signature over the very bytes that are sent."""
    content = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(secret_bytes(secret), content, hashlib.sha256).digest()).decode()


def headers(secrets_in_force: Sequence[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The Standard Webhooks headers; during a rotation both secrets sign."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(sign(secret, message_id, timestamp, body) for secret in secrets_in_force),
    }


def next_delay(schedule: Sequence[float], failures: int, retry_after: float | None) -> float | None:
    """Seconds from now to the next try after `failures` failed ones, ± 20 %; None when the schedule is used up.

    `schedule[0]` is the delay of the first try. A Retry-After lengthens a delay, to twice the delay or an hour
    at the most, so that a receiver cannot postpone a delivery for ever.
    """
    if failures >= len(schedule):
        return None
    base = float(schedule[failures])
    if retry_after is not None:
        base = min(max(base, retry_after), max(2 * base, 3600.0))
    return base * random.uniform(0.8, 1.2)


def parse_schedule(text: str) -> tuple[float, ...]:
    """ "0,5,300" → seconds. Raises ValueError for anything but 1 to 20 numbers from 0 to a week."""
    values = tuple(float(part) for part in text.split(","))
    if not 1 <= len(values) <= 20 or not all(0 <= value <= 7 * 86_400 for value in values):
        raise ValueError("a retry schedule is 1 to 20 comma-separated seconds, each at most a week")
    return values
