"""Webhooks, their deliveries and attempts. Rows of deliveries are made by triggers (migration 0002)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from core.domain.webhooks import AttemptRecord, Delivery, Webhook

_WEBHOOK = ", ".join(Webhook.__dataclass_fields__)
_DELIVERY = ", ".join(Delivery.__dataclass_fields__)
_ADD = text(f"""
INSERT INTO webhooks ({_WEBHOOK}) VALUES ({", ".join(f":{name}" for name in Webhook.__dataclass_fields__)})
""")
_WRITE = text("""
UPDATE webhooks SET name = :name, url = :url, event_types = :event_types, is_active = :is_active, secret = :secret,
  old_secret = :old_secret, old_secret_until = :old_secret_until, retry_schedule = :retry_schedule,
  disabled_reason = :disabled_reason, failing_since = :failing_since, updated_at = now() WHERE id = :id
""")
# An old secret that has had its time is as good as gone.
_READ = _WEBHOOK.replace("old_secret,", "CASE WHEN old_secret_until > now() THEN old_secret END AS old_secret,")
_ROTATE = text("""
UPDATE webhooks SET old_secret = secret, secret = :secret, updated_at = now(),
  old_secret_until = now() + :seconds * interval '1 s' WHERE id = :id
""")
_ONE = text(f"SELECT {_READ} FROM webhooks WHERE id = :id")
_ALL = text(f"SELECT {_READ} FROM webhooks WHERE project_id = :project ORDER BY created_at, id")
_REMOVE = text("DELETE FROM webhooks WHERE id = :id")
# Due deliveries, at most `per_endpoint` in flight to one webhook, the least recently served endpoints first.
_CLAIM = text(f"""
WITH busy AS MATERIALIZED (  -- else it is counted anew for each of the thousand
  SELECT webhook_id, count(*) AS n FROM deliveries
  WHERE state = 'waiting' AND due_at IS NOT NULL AND claimed_until > now() GROUP BY 1
), ranked AS (
  SELECT d.id, d.due_at, row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.due_at)
    + coalesce((SELECT n FROM busy b WHERE b.webhook_id = d.webhook_id), 0) AS place
  FROM (SELECT id, webhook_id, due_at FROM deliveries
        WHERE state = 'waiting' AND due_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
        ORDER BY due_at LIMIT 1000) d
), chosen AS (
  SELECT d.id FROM deliveries d JOIN ranked r ON r.id = d.id
  WHERE r.place <= :per_endpoint AND (d.claimed_until IS NULL OR d.claimed_until <= now())
  ORDER BY r.place, r.due_at LIMIT :limit FOR UPDATE OF d SKIP LOCKED
)
UPDATE deliveries SET claimed_until = clock_timestamp() + :seconds * interval '1 s', attempts = attempts + 1
WHERE id IN (SELECT id FROM chosen) RETURNING {_DELIVERY}
""")
_BODY = text("UPDATE deliveries SET body = :body WHERE id = :id AND body IS NULL")
_SETTLE = text("""
UPDATE deliveries SET state = :state, due_at = CASE WHEN :state = 'waiting' THEN
    clock_timestamp() + CAST(:after AS float8) * interval '1 s' ELSE due_at END,
  claimed_until = NULL, last_status = :status, last_error = :error,
  ended_at = CASE WHEN :state = 'waiting' THEN NULL ELSE clock_timestamp() END
WHERE id = :id AND state = 'waiting'
""")
_LOG = text("""
INSERT INTO delivery_attempts (delivery_id, number, project_id, at, ms, status, error, response)
VALUES (:delivery, :number, :project, clock_timestamp(), :ms, :status, :error, :response) ON CONFLICT DO NOTHING
""")
_HEALTHY = text("UPDATE webhooks SET failing_since = NULL WHERE id = :id AND failing_since IS NOT NULL")
_FAILING = text("UPDATE webhooks SET failing_since = coalesce(failing_since, now()) WHERE id = :id")
_DISABLE = text("""
UPDATE webhooks SET is_active = false, disabled_reason = :reason, updated_at = now() WHERE id = :id AND is_active
  AND (:after = 0 OR failing_since < now() - :after * interval '1 s')
""")
_CANCEL = text("""
UPDATE deliveries SET state = 'cancelled', ended_at = now() WHERE webhook_id = :id AND state = 'waiting'
""")
_LIST = text(f"""
SELECT {_DELIVERY} FROM deliveries WHERE project_id = :project AND webhook_id = :webhook
  AND (CAST(:state AS text) IS NULL OR state = :state)
ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset
""")
_COUNT = text("""
SELECT count(*) FROM deliveries WHERE project_id = :project AND webhook_id = :webhook
  AND (CAST(:state AS text) IS NULL OR state = :state)
""")
_DELIVERY_ONE = text(f"SELECT {_DELIVERY} FROM deliveries WHERE project_id = :project AND id = :id")
_ATTEMPTS = text("""
SELECT number, at, ms, status, error, response FROM delivery_attempts WHERE delivery_id = :id ORDER BY number
""")
_AGAIN = text("""
UPDATE deliveries SET state = 'waiting', due_at = now(), claimed_until = NULL, ended_at = NULL
WHERE project_id = :project AND id = :id AND state <> 'waiting'
""")
_REPLAY = text("""
UPDATE deliveries SET state = 'waiting', due_at = now(), claimed_until = NULL, ended_at = NULL, attempts = 0
WHERE project_id = :project AND webhook_id = :webhook AND state = 'exhausted'
  AND created_at >= now() - CAST(:back AS interval)
""")


def _webhook(row: Any) -> Webhook:
    return Webhook(**row)


class SqlWebhookStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, webhook: Webhook) -> None:
        self._connection.execute(_ADD, asdict(webhook))

    def write(self, webhook: Webhook) -> None:
        self._connection.execute(_WRITE, asdict(webhook))

    def rotate(self, webhook_id: UUID, secret: bytes, seconds: float) -> bool:
        params = {"id": webhook_id, "secret": secret, "seconds": seconds}
        return self._connection.execute(_ROTATE, params).rowcount == 1

    def one(self, webhook_id: UUID) -> Webhook | None:
        row = self._connection.execute(_ONE, {"id": webhook_id}).mappings().first()
        return _webhook(row) if row else None

    def all(self, project_id: UUID) -> list[Webhook]:
        return [_webhook(row) for row in self._connection.execute(_ALL, {"project": project_id}).mappings()]

    def remove(self, webhook_id: UUID) -> bool:
        """The endpoint with its deliveries and their log."""
        return self._connection.execute(_REMOVE, {"id": webhook_id}).rowcount == 1

    def claim(self, limit: int, per_endpoint: int, seconds: float) -> list[Delivery]:
        """Due deliveries of all projects, each claimed for `seconds` and with its attempt counted."""
        params = {"limit": limit, "per_endpoint": per_endpoint, "seconds": seconds}
        return [Delivery(**row) for row in self._connection.execute(_CLAIM, params).mappings()]

    def keep_body(self, delivery_id: UUID, body: bytes) -> None:
        """Fix the bytes of a delivery for all its attempts."""
        self._connection.execute(_BODY, {"id": delivery_id, "body": body})

    def settle(self, delivery: Delivery, state: str, after: float | None, record: AttemptRecord) -> None:
        """After an attempt: delivered, exhausted, or waiting for `after` seconds more; and its line in the log."""
        params = {
            "id": delivery.id,
            "state": state,
            "after": after or 0.0,
            "status": record.status,
            "error": record.error,
        }
        self._connection.execute(_SETTLE, params)
        log = {"delivery": delivery.id, "project": delivery.project_id, **asdict(record)}
        self._connection.execute(_LOG, log)

    def healthy(self, webhook_id: UUID) -> None:
        self._connection.execute(_HEALTHY, {"id": webhook_id})

    def failing(self, webhook_id: UUID) -> None:
        self._connection.execute(_FAILING, {"id": webhook_id})

    def disable(self, webhook_id: UUID, reason: str, after: float) -> bool:
        """Disable when failing for longer than `after` seconds (0: at once) and cancel what waits; True if so."""
        params = {"id": webhook_id, "reason": reason, "after": after}
        disabled = self._connection.execute(_DISABLE, params).rowcount == 1
        if disabled:
            self._connection.execute(_CANCEL, {"id": webhook_id})
        return disabled

    def deliveries(
        self, project_id: UUID, webhook_id: UUID, state: str | None, page: tuple[int, int]
    ) -> tuple[int, list[Delivery]]:
        """(count, deliveries) newest first; `page` is (limit, offset)."""
        params = {"project": project_id, "webhook": webhook_id, "state": state, "limit": page[0], "offset": page[1]}
        count = int(self._connection.execute(_COUNT, params).scalar_one())
        return count, [Delivery(**row) for row in self._connection.execute(_LIST, params).mappings()]

    def delivery(self, project_id: UUID, delivery_id: UUID) -> Delivery | None:
        row = self._connection.execute(_DELIVERY_ONE, {"project": project_id, "id": delivery_id}).mappings().first()
        return Delivery(**row) if row else None

    def attempts(self, delivery_id: UUID) -> list[AttemptRecord]:
        rows = self._connection.execute(_ATTEMPTS, {"id": delivery_id}).mappings()
        return [AttemptRecord(**row) for row in rows]

    def resend(self, project_id: UUID, delivery_id: UUID) -> bool:
        return self._connection.execute(_AGAIN, {"project": project_id, "id": delivery_id}).rowcount == 1

    def replay(self, project_id: UUID, webhook_id: UUID, back: timedelta) -> int:
        """Send again what was made within the last `back` and given up; how many."""
        params = {"project": project_id, "webhook": webhook_id, "back": back}
        return self._connection.execute(_REPLAY, params).rowcount
